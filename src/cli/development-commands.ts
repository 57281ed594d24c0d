import type { Command } from 'commander'
import type { CliContext, Run } from './context.ts'
import { listen } from './listen.ts'

interface InboundOptions {
  to: string
  from: string
  text: string
}

/** Adds the commands for developers: they forward inbound messages to a program, and simulate them without a phone. */
export function addDevelopment(program: Command, contextOf: () => CliContext, run: Run): void {
  program
    .command('listen')
    .description(
      "Forward the development tenant's inbound messages to an address as signed webhooks, and show the answers",
    )
    .requiredOption('--forward-to <url>', 'for example http://localhost:8080/webhook')
    .action((options: { forwardTo: string }) => listen(contextOf(), options.forwardTo))
  const simulate = program.command('simulate').description('Control the running simulator')
  addInbound(simulate.command('inbound').description('Send an SMS from the simulator to one of your numbers'), run)
  const trigger = program.command('trigger').description('Trigger an event')
  addInbound(
    trigger
      .command('sms_inbound')
      .description('Send an SMS from the simulator to one of your numbers, through the real webhook'),
    run,
  )
}

function addInbound(command: Command, run: Run): void {
  command
    .requiredOption('--to <number>', 'a connected number, E.164')
    .requiredOption('--from <number>', 'the sender, E.164')
    .requiredOption('--text <text>', 'the message')
    .action((body: InboundOptions) =>
      run(
        { method: 'POST', path: '/v1/operator/simulator/inbound', body, needs: 'server' },
        { show: ({ rcMessageId }: { rcMessageId: string }) => ({ id: rcMessageId }) },
      ),
    )
}
