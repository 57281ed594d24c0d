import { expect, test } from 'bun:test'
import { z } from 'zod'
import { PROJECT } from '../support/program.ts'

/** The part of a schema that this test uses. */
interface Schema {
  [key: string]: unknown
}

const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null

/** Returns every schema below `value` that has an example, with its path in the document. */
function examplesIn(value: unknown, path = ''): { path: string; schema: Schema }[] {
  if (!isObject(value)) return []
  const own = 'example' in value ? [{ path, schema: value }] : []
  const below = Object.entries(value).filter(([name]) => name !== 'example')
  return [...own, ...below.flatMap(([name, child]) => examplesIn(child, `${path}/${name}`))]
}

test('every example of docs/openapi.json fits its schema', async () => {
  const document: unknown = await Bun.file(`${PROJECT}/docs/openapi.json`).json()
  const examples = examplesIn(document)
  expect(examples.length).toBeGreaterThan(40)
  const wrong = examples.flatMap(({ path, schema: { example, ...schema } }) => {
    const { error } = z.fromJSONSchema(schema, { defaultTarget: 'openapi-3.0' }).safeParse(example)
    return error === undefined ? [] : [`${path}: ${z.prettifyError(error)}`]
  })
  expect(wrong).toEqual([])
})
