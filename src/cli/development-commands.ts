import type { Command } from 'commander'
import type { CliContext, Run } from './context.ts'
import { listen } from './listen.ts'

interface InboundOptions {
  to: string
  from: string
  text: string
}

/** Commands for those who build on the gateway: messages that come in without a phone, and a look at each of them. */
export function addDevelopment(program: Command, contextOf: () => CliContext, run: Run): void {
  program
    .command('listen')
    .description(
      "forwards the development tenant's inbound messages to an address as signed webhooks, and shows the answers",
    )
    .requiredOption('--forward-to <url>', 'for example http://localhost:8080/webhook')
    .action((options: { forwardTo: string }) => listen(contextOf(), options.forwardTo))
  const simulate = program.command('simulate').description('makes the running simulator do something')
  addInbound(simulate.command('inbound').description('somebody sends an SMS to one of your numbers'), run)
  const trigger = program.command('trigger').description('makes an event happen')
  addInbound(
    trigger.command('sms_inbound').description('an SMS comes in through the simulator and the real webhook'),
    run,
  )
}

function addInbound(command: Command, run: Run): void {
  command
    .requiredOption('--to <number>', 'a connected number, E.164')
    .requiredOption('--from <number>', 'the sender, E.164')
    .requiredOption('--text <text>', 'what it says')
    .action(({ to, from, text }: InboundOptions) => run('simulate-inbound', { to, from, text }))
}
