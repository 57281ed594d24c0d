import { expect, test } from 'bun:test'
import { TenantBody } from '../../src/operator/schemas.ts'
import { sgwIn } from '../support/cli.ts'
import { folderInMemory } from '../support/memory-folder.ts'

test('the name of a tenant has no character that acts on a terminal', async () => {
  const folder = folderInMemory()
  const create = (name: string) => sgwIn(folder, ['tenant', 'create', '--name', name, '--json'])
  const { code, stderr } = await create('Acme\u001b[2K\rtenant_0000000000000000  Forged')
  expect({ code, error: stderr.trim().split('\n').at(-1) }).toEqual({
    code: 1,
    error: '{"error":"name must be 1-100 characters"}',
  })
  expect(JSON.parse((await create('Ünï 😀 GmbH & Co.')).stdout)).toMatchObject({ name: 'Ünï 😀 GmbH & Co.' })
  for (const name of ['a\u0000', 'a\tb', 'a\u007fb', 'a\u0085b', 'a\u202eb', 'a\u2069b', '\ud800'])
    expect(TenantBody.safeParse({ name }).success).toBe(false)
})
