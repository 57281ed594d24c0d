import type { Command } from 'commander'
import type { EventPage } from '../messages/realtime/event-log.ts'
import type { GatewayEvent } from '../messages/realtime/event.ts'
import { printable } from '../core/printable.ts'
import { ask, noServer } from './ask.ts'
import type { CliContext } from './context.ts'
import { openEvents } from './event-lines.ts'
import { shortTime } from './reasons.ts'
import { paintState } from './style.ts'
import { actingApps } from './tenant-scope.ts'

interface EventsOptions {
  after?: string
  tenant?: string
}

/** An event, or the first line of the stream. */
type Line = { type: 'ready'; cursor: string } | GatewayEvent

/** Adds `sgw events`. */
export function addEvents(program: Command, contextOf: () => CliContext): void {
  program
    .command('events')
    .alias('event')
    .description(
      'Print the events of all tenants until you press Ctrl+C: changes to messages, inbound texts and opt-outs',
    )
    .option('--after <cursor>', 'start after this cursor, which an earlier run printed')
    .option('--tenant <tenant>', 'only this tenant')
    .action((options: EventsOptions) => follow(contextOf(), options))
}

async function follow(context: CliContext, { after, tenant }: EventsOptions): Promise<void> {
  const lines = await openEvents(context, tenant)
  if (lines === null) throw noServer()
  const caughtUp = new Set<string>()
  for await (const line of lines) {
    const event = JSON.parse(line) as Line
    if (event.type === 'ready') {
      // The stream is already open, so no event falls between the two.
      if (after !== undefined)
        for (const earlier of await readAfter(context, after, tenant)) show(context, earlier, caughtUp)
      context.stderr(`Ready (Ctrl+C to end). Later: sgw events --after ${event.cursor}\n`)
    } else if (!caughtUp.has(JSON.stringify(event))) show(context, event)
  }
  context.stderr('The server has stopped\n')
}

function show(context: CliContext, event: GatewayEvent, shown?: Set<string>): void {
  const text = JSON.stringify(event)
  shown?.add(text)
  context.stdout(`${context.json ? printable(text) : readable(context, event)}\n`)
}

/** The events after a cursor, oldest first. */
async function readAfter(context: CliContext, after: string, tenant: string | undefined): Promise<GatewayEvent[]> {
  const found: GatewayEvent[] = []
  for (const { appId } of await actingApps(context, tenant))
    for (let cursor = after; ;) {
      const path = `/v1/events?${new URLSearchParams({ after: cursor, limit: '1000' })}`
      const page = (await ask(context, { method: 'GET', path, appId })) as EventPage
      if (page.gap) context.stderr('Events after this cursor may be gone: here are the oldest ones left\n')
      if (page.events.length === 0) break
      found.push(...page.events)
      cursor = page.cursor
    }
  return found.toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0))
}

function readable(context: CliContext, event: GatewayEvent): string {
  const { type, tenantId: _tenantId, timestamp, ...fields } = event as GatewayEvent & Record<string, unknown>
  const { messageId, status, deliveryStatus, appId: _appId, ...others } = fields as Record<string, unknown>
  const state = status ?? deliveryStatus
  const rest = Object.entries(others).map(([name, value]) => `${name}=${String(value)}`)
  return [
    shortTime(timestamp),
    type.padEnd(12),
    ...(messageId === undefined ? [] : [printable(String(messageId))]),
    ...(state === undefined ? [] : [paintState(context, String(state))]),
    printable(rest.join(' ')),
  ].join('  ')
}
