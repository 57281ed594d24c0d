import { phoneNumbers } from '../db/schema/connections.ts'
import { readInactiveTenants } from '../messages/gateway-state/extensions.ts'
import type { Gateway } from '../messages/gateway.ts'
import { isDirect } from '../provider/number-owners.ts'
import { Fault } from './fault.ts'

/**
 * Numbers of call queues and of the company have their messages in another store than their extension's. Until the provider has
 * shown one of them, a missing record proves nothing.
 */
export async function checkNumbers({ database }: Gateway): Promise<string> {
  const inactive = await readInactiveTenants(database)
  const rows = (await database.orm.select().from(phoneNumbers)).filter(({ tenantId }) => !inactive.has(tenantId))
  const hidden = rows.filter((row) => row.shownAt === null && !isDirect(row)).map(({ number }) => number)
  if (hidden.length === 0) return rows.length === 0 ? 'none yet' : `${rows.length} that can send`
  const list = [...new Set(hidden)].toSorted().join(', ')
  throw new Fault(
    `${list}: RingCentral has not shown any message of a number that is not the extension's own (a call queue's, the company's). Until it does, a text whose answer is lost ends as "Delivery could not be confirmed with the provider" and is not sent again by itself`,
    'warn',
  )
}
