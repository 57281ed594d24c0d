import type { CliContext } from './context.ts'

const COLOURS = { green: 32, yellow: 33, red: 31, grey: 90 } as const
export type Colour = keyof typeof COLOURS

/** What a word of the API means to a person: `good`, `bad`, or `open` for what is not decided yet. */
const WORDS: Readonly<Record<string, Colour>> = {
  active: 'green',
  sent: 'green',
  delivered: 'green',
  received: 'green',
  success: 'green',
  running: 'green',
  queued: 'yellow',
  sending: 'yellow',
  pending: 'yellow',
  suspended: 'yellow',
  refresh_failed: 'yellow',
  failed: 'red',
  undelivered: 'red',
  inactive: 'grey',
  revoked: 'red',
  http_error: 'red',
  timeout: 'red',
  network_error: 'red',
}

/** Paints text on a terminal, unless `NO_COLOR` is set. */
export function paint(context: CliContext, text: string, colour: Colour): string {
  const isColoured = context.terminal && (context.environment['NO_COLOR'] ?? '') === ''
  return isColoured ? `\u001b[${COLOURS[colour]}m${text}\u001b[0m` : text
}

/** Paints a cell whose first word is a state of the API. */
export function paintState(context: CliContext, text: string): string {
  const colour = WORDS[text.trim().split(' ')[0] ?? '']
  return colour === undefined ? text : paint(context, text, colour)
}
