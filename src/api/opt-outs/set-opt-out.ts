import type { Caller } from '../../core/caller.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { STORE_OPT_OUT } from '../../messages/opt-outs/opt-out-rows.ts'
import { providerNow } from '../../provider/provider-time.ts'
import type { OptOutBody } from './schemas.ts'

/** Opts a contact out of a number, or in again. */
export async function setOptOut(gateway: Gateway, caller: Caller, body: OptOutBody): Promise<{ ok: true }> {
  await gateway.database.writer.row(STORE_OPT_OUT, {
    decisionId: gateway.ids.of('req'),
    tenantId: caller.tenantId,
    number: body.number,
    contact: body.contact,
    optedOut: body.optedOut ? 1 : 0,
    source: 'api',
    decidedAt: providerNow(gateway),
    now: gateway.clock.now(),
  })
  return { ok: true }
}
