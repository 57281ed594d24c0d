import { expect, test } from 'bun:test'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { CONDITIONS } from '../../src/operator/conditions/table.ts'
import { PROJECT } from '../support/program.ts'

const PAGE = readFileSync(join(PROJECT, 'docs/runbooks.md'), 'utf8')
const TROUBLES = readFileSync(join(PROJECT, 'docs/troubleshoot.md'), 'utf8')
const [INTRODUCTION = '', ...RUNBOOKS] = PAGE.split(/^## /m)

/** Everything that the gateway and `sgw` can print. */
const SOURCE = readdirSync(join(PROJECT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.startsWith(join('console', 'page')))
  .map((name) => readFileSync(join(PROJECT, 'src', name), 'utf8'))
  .join('\n')

/** What somebody searches for at night, as the program says it. */
const SAID = [
  'has not answered since',
  "DNS, the firewall and the network, and RingCentral's status page",
  'the proxy that HTTPS_PROXY names refuses the connection: allow RC_SERVER_URL in its settings',
  'RC_SERVER_URL, DNS and the firewall',
  ' answers again.',
  ' cannot be written: ',
  'equests that cannot be stored get 503; check the free space and the disk',
  'Free some space, or messages will be refused with 503.',
  ' has room again.',
  ' can be written again.',
  'Invalid API key',
  ': do not start it again before you have read docs/runbooks.md',
  ' has been behind for ',
  'Litestream cannot copy to the storage: see its log, check the credentials and the network, and keep the volume until the backup has caught up.',
  ' is up to date again.',
  'the database was restored from a backup: the gateway first looks up whether it was sent',
  'no key that can decrypt the stored secrets',
  'Put the old key back, behind the newest (docs/security.md)',
  'every stored secret can be decrypted.',
  'the replica does not store what is committed',
  'each have changes that the other lacks: nothing was changed.',
  ' has waited for ',
  'earlier messages of their number or conversation go first',
  'its extension has used its rate limit',
  ' has failed for an hour',
  'says that a gateway has used it',
]

/** Why a gateway does not start. */
const SAID_AT_START = [
  'says that a gateway has used it',
  'no key that can decrypt',
  'stop it first, or set DATABASE_URL to another file',
  ' is in use: stop the other program, or set PORT to a free one',
  'Litestream is gone',
]

test('the runbooks quote what the program says, and the page of troubles what it says at the start', () => {
  expect(SAID.filter((text) => !PAGE.includes(text))).toEqual([])
  expect(SAID_AT_START.filter((text) => !TROUBLES.includes(text))).toEqual([])
  expect(
    [...SAID, ...SAID_AT_START].filter(
      (text) => !SOURCE.includes(text) && !SOURCE.includes(text.replaceAll("'", "\\'")),
    ),
  ).toEqual([])
})

test('every runbook says how you see it, what the gateway does, what to type, and when it is over', () => {
  expect(RUNBOOKS).toHaveLength(12)
  for (const runbook of RUNBOOKS)
    for (const part of ['**You see**', '**The gateway**', '**It is over** when', '```sh\n'])
      expect([runbook.split('\n')[0], part, runbook.includes(part)]).toEqual([runbook.split('\n')[0], part, true])
})

test('the table at the top leads to every runbook', () => {
  const linked = [...INTRODUCTION.matchAll(/\]\(#([a-z-]+)\) \|$/gm)].map(([, anchor = '']) => anchor)
  expect(linked).toEqual(RUNBOOKS.map((runbook) => (runbook.split('\n')[0] ?? '').toLowerCase().replaceAll(' ', '-')))
})

test('the table at the top names each alert that a runbook ends, and no others', () => {
  const alerts = readFileSync(join(PROJECT, 'docs/alerts.md'), 'utf8')
  const ended = [...alerts.matchAll(/^\| `(\w+)` \|.*\]\(runbooks\.md#/gm)].map(([, alert = '']) => alert)
  const named = [...INTRODUCTION.matchAll(/^\| [^|]+ \| `(\w+)` \|/gm)].map(([, alert = '']) => alert)
  expect(ended.length).toBeGreaterThan(5)
  expect(ended.filter((alert) => !named.includes(alert))).toEqual([])
  expect(named.filter((name) => !CONDITIONS.some(({ alert }) => alert === name))).toEqual([])
})
