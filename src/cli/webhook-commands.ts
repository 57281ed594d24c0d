import type { Command } from 'commander'
import { printable } from '../core/printable.ts'
import { DeliveriesQuery } from '../api/webhook-deliveries/schemas.ts'
import type { DeliveryAttempt } from '../client/resource-types.ts'
import { ask } from './ask.ts'
import type { CliContext } from './context.ts'
import { addFailed } from './failed-webhooks.ts'
import { type FilterOptions, addFilters } from './filters.ts'
import { pageLine, print, sayNext, symbolOf } from './print.ts'
import { refusalOf, shortTime } from './reasons.ts'
import { paintState } from './style.ts'
import { cut } from './table.ts'
import { askOwner, listAll } from './tenant-scope.ts'
import { hanging, widthBeside } from './wrap.ts'

/** Adds the commands that show how webhooks were delivered, and deliver them again. */
export function addWebhooks(program: Command, contextOf: () => CliContext): void {
  const webhooks = program
    .command('webhooks')
    .alias('webhook')
    .description(
      'See why webhooks fail, and deliver them again. Each is attempted once, unless its app has a retry policy (PUT /v1/apps/APP/webhook-retries)',
    )
  addList(webhooks, contextOf)
  webhooks
    .command('redeliver')
    .description('Attempt a delivery once more')
    .argument('<delivery>', 'delivery id, as sgw webhooks list shows it')
    .option('--tenant <tenant>', 'the tenant of the delivery; without it, all are searched')
    .action(async (deliveryId: string, { tenant }: { tenant?: string }) => {
      const path = `/v1/webhook-deliveries/${encodeURIComponent(deliveryId)}/redeliver`
      const { answer } = await askOwner(contextOf(), { method: 'POST', path }, tenant)
      print(contextOf(), answer)
      sayNext(contextOf(), `To see the result: sgw webhooks list --message ${deliveryId.split(':')[0]}`)
    })
  addFailed(webhooks, contextOf)
}

function addList(webhooks: Command, contextOf: () => CliContext): void {
  const list = webhooks
    .command('list')
    .description('List webhook attempts of all tenants with their errors, newest first')
  const queryOf = addFilters(list, DeliveriesQuery, FILTERS)
  list.action(async (given: Record<string, string>) => {
    const { tenant, app, trigger } = given
    const context = contextOf()
    const query = queryOf(given)
    const owner = app === undefined && trigger === undefined ? tenant : (tenant ?? (await ownerOf(context, app)))
    const request = { path: '/v1/webhook-deliveries', field: 'attempts', query, time: 'attemptedAt' }
    const { items, ...page } = await listAll(context, request, owner)
    if (context.json) return print(context, { attempts: items, ...page })
    const attempts = items as unknown as DeliveryAttempt[]
    context.stdout(attempts.length === 0 ? 'none\n' : attempts.map((attempt) => linesOf(context, attempt)).join(''))
    context.stdout(pageLine({ ...page, shown: items.length }))
    if (attempts.some(({ outcome: ended }) => ended !== 'success'))
      sayNext(context, 'Deliver again: sgw webhooks redeliver DELIVERY, or recover --since 2h')
  })
}

/** Help for some filters; the others have the API's description. */
const FILTERS: FilterOptions<typeof DeliveriesQuery> = {
  outcome: { says: '' },
  kind: { says: '' },
  state: { says: 'deliveries that failed and will not be tried again' },
  appId: { flags: '--app <app>', says: 'only to this app' },
  triggerId: { flags: '--trigger <trigger>', says: 'only to this trigger' },
  messageId: { flags: '--message <message>', says: 'only about this message' },
}

/** The tenant of an app: the endpoint refuses an app of another tenant. */
async function ownerOf(context: CliContext, appId: string | undefined): Promise<string | undefined> {
  if (appId === undefined) return undefined
  const { tenantId } = (await ask(context, { method: 'GET', path: '/v1/me', appId })) as { tenantId: string }
  return tenantId
}

/** Two or three lines: what was posted, where, and what went wrong. On a terminal a long address is cut: --json has all of it. */
function linesOf(context: CliContext, attempt: DeliveryAttempt): string {
  const { deliveryId, attemptNumber, outcome, statusCode, durationMs, attemptedAt, url } = attempt
  const result = `${outcome}${statusCode === undefined ? '' : ` ${statusCode}`}`
  const head = `${shortTime(attemptedAt)}  ${deliveryId}  attempt ${attemptNumber}`
  const why = [attempt.errorMessage, attempt.responseSnippet].filter((text) => text !== undefined && text !== '')
  const refusal = refusalOf(attempt)
  const taken = `    ${paintState(context, result)} after ${durationMs} ms  `
  return [
    `${symbolOf(context, outcome === 'success' ? 'ok' : 'fail')} ${printable(head)}\n`,
    `${taken}${cut(printable(url), widthBeside(context, Bun.stringWidth(taken)))}\n`,
    ...(why.length === 0 ? [] : [hanging(context, '    ', printable(why.join(': ')))]),
    ...(refusal === '' ? [] : [hanging(context, '    ', refusal)]),
  ].join('')
}
