import { basename } from 'node:path'
import type { Command } from 'commander'
import { codeOf } from '../core/error-code.ts'
import { type CliContext, CliError, type Run } from './context.ts'
import { collected, countOf } from './filters.ts'
import { type ListenOptions, listen } from './listen.ts'
import { addProviderChanges } from './provider-commands.ts'
import { textOf } from './standard-input.ts'

interface InboundOptions {
  to: string
  from: string
  text: string
  attach: string[]
}

/** Adds the commands for developers: they show and forward inbound messages to a program, and simulate them without a phone. */
export function addDevelopment(program: Command, contextOf: () => CliContext, run: Run): void {
  program
    .command('listen')
    .description('Show inbound messages as they arrive, and forward them to a URL as signed webhooks')
    .option('--forward-to <url>', 'for example http://localhost:8080/webhook')
    .option('--tenant <tenant>', 'only this tenant')
    .action((options: ListenOptions) => listen(contextOf(), options))
  const simulate = program
    .command('simulate')
    .description('Text as a contact would, or make the simulated provider fail')
  addSituations(simulate, run)
  addProviderChanges(simulate, run)
  addInbound(
    simulate
      .command('inbound')
      .description('Send an SMS from the simulator to one of your numbers, and print its id in the simulator'),
    contextOf,
    run,
  )
}

const SITUATIONS = {
  fail: 'Make the provider refuse the next message for good',
  limit: 'Make the provider return 429 for the next message',
  undelivered: 'Make the provider accept the next message but not deliver it',
  outage: 'Make the provider return 503 for every call, until a reset',
  reset: 'Undo fail, limit, undelivered and outage',
} as const

function addSituations(simulate: Command, run: Run): void {
  for (const [situation, description] of Object.entries(SITUATIONS)) {
    const command = simulate.command(situation).description(description)
    if (situation !== 'outage' && situation !== 'reset')
      command.option('--times <count>', 'how many messages; 1 by default', (text) => Number(countOf(text)))
    if (situation === 'undelivered') command.option('--code <code>', 'the error code of the delivery')
    command.action((options: { times?: number; code?: string }) =>
      run({
        method: 'POST',
        path: '/v1/operator/simulator/situation',
        body: { situation, ...options },
        needs: 'server',
      }),
    )
  }
  simulate
    .command('advance')
    .description("Move a test server's clock forward")
    .argument('<duration>', 'such as 90s, 15m, 24h or 7d')
    .action((duration: string) =>
      run({ method: 'POST', path: '/v1/operator/simulator/advance', body: { duration }, needs: 'server' }),
    )
}

export function addInbound(command: Command, contextOf: () => CliContext, run: Run): void {
  command
    .requiredOption('--to <number>', 'a connected number, E.164')
    .requiredOption('--from <number>', 'the sender, E.164')
    .option('--text <text>', 'the message; - reads it from standard input', '')
    .option('--attach <file>', 'a picture or other file to attach; may be repeated', collected, [])
    .action(async ({ text, attach, ...numbers }: InboundOptions) => {
      const attachments = await Promise.all(attach.map(attachmentOf))
      const body = { ...numbers, text: await textOf(contextOf(), text), attachments }
      await run(
        { method: 'POST', path: '/v1/operator/simulator/inbound', body, needs: 'server' },
        { show: ({ rcMessageId }: { rcMessageId: string }) => ({ id: rcMessageId }) },
      )
    })
}

/** A file in the simulator's form. The ending of its name decides its type. */
async function attachmentOf(path: string): Promise<{ contentType: string; fileName: string; data: string }> {
  const file = Bun.file(path)
  const bytes = await file.bytes().catch((error: unknown) => {
    throw new CliError(`${path} cannot be read (${codeOf(error) ?? 'unknown error'})`)
  })
  const [contentType = ''] = file.type.split(';')
  return { contentType, fileName: basename(path), data: bytes.toBase64() }
}
