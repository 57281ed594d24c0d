import type { Command } from 'commander'
import { wordsOf } from './command.ts'

/** One command line for each command, by its words. */
const EXAMPLES: Readonly<Record<string, string>> = {
  start: 'sgw start',
  stop: 'sgw stop',
  lease: 'sgw lease --json',
  'lease give': 'sgw lease give',
  'lease abandon': 'sgw lease abandon --yes',
  'tenant create': 'sgw tenant create --name "My company"',
  'tenant list': 'sgw tenant list --json',
  'tenant suspend': 'sgw tenant suspend tenant_a51e14c2ed5d0c6a',
  'tenant activate': 'sgw tenant activate tenant_a51e14c2ed5d0c6a',
  'tenant deactivate': 'sgw tenant deactivate tenant_a51e14c2ed5d0c6a',
  'app create': 'sgw app create --tenant tenant_a51e14c2ed5d0c6a --name "My app"',
  'app list': 'sgw app list --tenant tenant_a51e14c2ed5d0c6a',
  'app update': 'sgw app update app_1f0e8d9b2c3a4556 --webhook-url https://example.com/sms',
  'app activate': 'sgw app activate app_1f0e8d9b2c3a4556',
  'app rotate-key': 'sgw app rotate-key app_1f0e8d9b2c3a4556',
  'app rotate-webhook-secret': 'sgw app rotate-webhook-secret app_1f0e8d9b2c3a4556',
  'app deactivate': 'sgw app deactivate app_1f0e8d9b2c3a4556 --yes',
  'messages list': 'sgw messages list --status failed --start-date 2026-11-24',
  'messages show': 'sgw messages show msg_0a1b2c3d4e5f',
  'messages resend': 'sgw messages resend --failed-since 2h --tenant tenant_a51e14c2ed5d0c6a',
  'messages cancel': 'sgw messages cancel --tenant tenant_a51e14c2ed5d0c6a --state scheduled --dry-run',
  'webhooks list': 'sgw webhooks list --outcome http_error',
  'webhooks redeliver': 'sgw webhooks redeliver msg_0a1b2c3d4e5f:app_1f0e8d9b2c3a4556',
  'webhooks recover': 'sgw webhooks recover --since 2026-11-24T10:00:00Z',
  events: 'sgw events',
  'extensions list': 'sgw extensions list',
  'extensions connect': 'sgw extensions connect --app app_1f0e8d9b2c3a4556',
  'extensions invite': 'sgw extensions invite --app app_1f0e8d9b2c3a4556',
  'extensions disconnect': 'sgw extensions disconnect 629890016 --tenant tenant_a51e14c2ed5d0c6a',
  'trigger create': 'sgw trigger create --app app_1f0e8d9b2c3a4556 --callback-url https://hooks.example.com/sms',
  'trigger list': 'sgw trigger list',
  'trigger delete': 'sgw trigger delete trg_9a8b7c6d5e4f3021',
  'trigger-subscription create':
    'sgw trigger-subscription create --tenant tenant_a51e14c2ed5d0c6a --callback-url https://hooks.example.com/sms',
  'trigger-subscription list': 'sgw trigger-subscription list --tenant tenant_a51e14c2ed5d0c6a',
  'trigger-subscription delete':
    'sgw trigger-subscription delete trg_9a8b7c6d5e4f3021 --tenant tenant_a51e14c2ed5d0c6a',
  send: 'sgw send --from +15555550100 --to +15555550199 --wait "Hello"',
  notify: 'sgw notify --from +15555550100 --to +15555550199 --text "{{status}}: {{host}}"',
  console: 'sgw console',
  status: 'sgw status --json',
  doctor: 'sgw doctor',
  backup: 'sgw backup /mnt/copies/sgw.db',
  restore: 'sgw restore --check',
  compact: 'sgw compact',
  unblock: 'sgw unblock 203.0.113.7',
  erase: 'sgw erase --phone +15555550199 --dry-run',
  health: 'sgw health',
  'keys rotate': 'sgw keys rotate',
  secret: 'sgw secret',
  listen: 'sgw listen --forward-to http://localhost:8080/webhook',
  'simulate inbound': 'sgw simulate inbound --to +15555550100 --from +15555550177 --text "Hello yourself"',
  'simulate fail': 'sgw simulate fail --times 2',
  'simulate undelivered': 'sgw simulate undelivered --code SMS-CAR-430',
  'simulate outage': 'sgw simulate outage',
  'simulate limit': 'sgw simulate limit',
  'simulate reset': 'sgw simulate reset',
  'simulate advance': 'sgw simulate advance 24h',
  'trigger sms_inbound': 'sgw trigger sms_inbound --to +15555550100 --from +15555550177 --text "Hello yourself"',
}

/** Ends the help of a command with its example. */
export function addExample(command: Command): void {
  const example = EXAMPLES[wordsOf(command).replace(/^sgw /, '')]
  if (example !== undefined) command.addHelpText('after', `\nExample: ${example}`)
}
