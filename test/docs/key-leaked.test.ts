import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT } from '../support/program.ts'

const read = (path: string): string => readFileSync(join(PROJECT, path), 'utf8')
const PAGE = read('docs/runbooks.md').replaceAll('sgwctl ', 'sgw ')
const RUNBOOK = PAGE.split('## A key leaked\n')[1]?.split('\n## ')[0] ?? ''
const [STEPS = '', CALLS = ''] = RUNBOOK.split('### What a key can leave behind')

interface Operation {
  security?: readonly Record<string, unknown>[]
}

interface ApiDocument {
  security: readonly Record<string, unknown>[]
  paths: Record<string, Record<string, Operation>>
}

/** What a key may call that changes something, as the API document says. */
function changesOf({ security: usual, paths }: ApiDocument): string[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => method !== 'get')
      .filter(([, { security = usual }]) => security.some((scheme) => 'apiKey' in scheme))
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  )
}

test('the runbook of a leaked key names everything that a key can make or change, and nothing else', () => {
  const changes = changesOf(JSON.parse(read('docs/openapi.json')) as ApiDocument)
  expect(changes.length).toBeGreaterThan(20)
  const rows = [...CALLS.matchAll(/^\| (`[A-Z]+ \/v1[^|]+) \| [^|]+ \|/gm)]
  const named = rows.flatMap(([, calls = '']) => [...calls.matchAll(/`([^`]+)`/g)].map(([, call]) => call ?? ''))
  expect(named.toSorted()).toEqual(changes.toSorted())
})

test('the runbook says that the same steps are needed for each app that the key has registered', () => {
  expect(STEPS).toContain('sgw app deactivate APP2 ')
  expect(STEPS).toContain(
    "Repeat steps 1 and 2 with each `APP2` that the key registered, or cancel all of the tenant's messages with `sgw messages cancel --tenant TENANT`.",
  )
  for (const command of ['sgw messages cancel --tenant TENANT', '--app APP']) expect(STEPS).toContain(command)
})

test('the runbook names the commands that end what a key has left behind', () => {
  const commands = [
    'sgw app rotate-key APP',
    'sgw app list --registered-by APP',
    'sgw app rotate-webhook-secret APP',
    'sgw messages cancel --tenant TENANT',
    'sgw extensions disconnect EXTENSION --tenant TENANT',
    'sgw trigger delete TRIGGER',
    '/v1/opt-outs',
  ]
  expect(commands.filter((command) => !STEPS.includes(command))).toEqual([])
})
