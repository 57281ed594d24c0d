import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT } from '../support/program.ts'

const read = (path: string): string => readFileSync(join(PROJECT, path), 'utf8')

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

test('the page about a leaked key names everything that a key can make or change, and nothing else', () => {
  const changes = changesOf(JSON.parse(read('docs/openapi.json')) as ApiDocument)
  expect(changes.length).toBeGreaterThan(20)
  const named = [...read('docs/key-leaked.md').matchAll(/^\| `([A-Z]+ \/v1[^`]+)` \| [^|]+ \|/gm)].map(
    ([, call]) => call ?? '',
  )
  expect(named.toSorted()).toEqual(changes.toSorted())
})

test('the page says that the same steps are needed for each app that the key has registered', () => {
  const [, ...steps] = read('docs/key-leaked.md').split(/^## \d\. /m)
  const [replace = '', cancel = ''] = steps
  expect(replace).toContain('sgw app deactivate APP2 ')
  expect(cancel).toContain(
    'The same holds for the apps that the key registered: repeat these commands with each `APP2` of step 1, or leave out `--app`, for everything of the tenant.',
  )
  for (const command of ['sgw messages cancel --tenant TENANT', '--app APP']) expect(cancel).toContain(command)
})

test('page and runbook name the commands that end what a key has left behind', () => {
  const runbook = read('docs/runbooks.md').split('## A key leaked')[1]?.split('\n## ')[0] ?? ''
  const commands = [
    'sgw app rotate-key APP',
    'sgw app list --registered-by APP',
    'sgw app rotate-webhook-secret APP',
    'sgw messages cancel --tenant TENANT',
    'sgw extensions disconnect EXTENSION --tenant TENANT',
    'sgw trigger delete TRIGGER',
    '/v1/opt-outs',
  ]
  for (const text of [runbook, read('docs/key-leaked.md')])
    expect(commands.filter((command) => !text.includes(command))).toEqual([])
})
