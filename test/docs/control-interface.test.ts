import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { logIn } from '../support/connect-flow.ts'
import { startProgram, temporaryFolder } from '../support/process.ts'
import { PROJECT } from '../support/program.ts'
import { until } from '../support/world.ts'

const PAGE = readFileSync(join(PROJECT, 'docs/testing.md'), 'utf8').split('\n## The control interface\n')[1] ?? ''

interface Row {
  name: string
  isReading: boolean
  body: string | null
  answer: unknown
}

/** The rows of the tables. An answer that is as that of another row has its members. */
function rowsOf(page: string): Row[] {
  const rows = [...page.matchAll(/^\| `(\w+)`( \(GET\))?(?: `(.+?)`)? \| .*?(?: → (?:`([^`]+)`|as `(\w+)`))? \|$/gm)]
  const answers = new Map(rows.flatMap(([, name, , , answer]) => (answer === undefined ? [] : [[name, answer]])))
  return rows.map(([, name = '', get, body, answer, as]) => ({
    name,
    isReading: get !== undefined,
    body: body ?? null,
    answer: JSON.parse(answer ?? answers.get(as) ?? 'null') as unknown,
  }))
}

/** The names of what is in an answer; of a list, those of its first item. */
function shapeOf(answer: unknown): unknown {
  if (Array.isArray(answer)) return [shapeOf(answer[0])]
  return typeof answer === 'object' && answer !== null ? Object.keys(answer).toSorted() : answer
}

/** Connects another extension, so that there is a second subscription: each can end once. */
async function connectSecond(url: string, control: string, headers: Record<string, string>): Promise<void> {
  const post = (address: string, body: string | URLSearchParams, more: object = { headers }): Promise<Response> =>
    fetch(address, { method: 'POST', body, redirect: 'manual', ...more })
  const second = await post(`${control}/addExtension`, '{"name":"Second","numbers":["+15555550160"]}')
  const { extensionId } = (await second.json()) as { extensionId: string }
  await post(`${control}/nextLogin`, JSON.stringify({ extensionId }))
  const { connectUrl } = (await (await post(`${url}/v1/rc/connect-token`, '{}')).json()) as { connectUrl: string }
  const token = connectUrl.split('token=')[1] ?? ''
  const pressed = await post(`${url}/v1/rc/connect`, new URLSearchParams({ token }), {})
  const { search } = new URL(await logIn(pressed.headers.get('location') ?? ''), url)
  expect(await (await fetch(`${url}/v1/rc/callback${search}&format=json`)).json()).toEqual({ ok: true })
}

async function newJwt(control: string): Promise<string> {
  const [{ extensionId }] = (await (await fetch(`${control}/extensions`)).json()) as [{ extensionId: string }]
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ extensionId })
  return ((await (await fetch(`${control}/addJwt`, { method: 'POST', headers, body })).json()) as { jwt: string }).jwt
}

test('the manual has every name of the control interface, and each request and answer is as it says', async () => {
  using folder = temporaryFolder()
  await using server = startProgram('src/main.ts', ['--test'], { PORT: '0', DATABASE_URL: folder.database })
  const [, control = ''] = await server.printed(/Simulator +(\S+)/)
  const [, url = ''] = await server.printed(/sgw listens on +(\S+)/)
  const [, key = ''] = await server.printed(/API key +(\S+)/)
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
  const rows = rowsOf(PAGE)
  const { knobs } = (await (await fetch(control)).json()) as { knobs: string[] }
  expect(rows.map(({ name }) => name).toSorted()).toEqual(knobs.toSorted())

  const first = async (name: string, id: string): Promise<string> =>
    String(((await (await fetch(`${control}/${name}`)).json()) as Record<string, unknown>[])[0]?.[id] ?? '')
  const sms = JSON.stringify({ from: '+15555550100', to: '+15555550199', body: 'Your code is 4711' })
  expect((await fetch(`${url}/v1/sms/send`, { method: 'POST', headers, body: sms })).status).toBe(202)
  await until(() => first('messages', 'messageId'))
  await connectSecond(url, control, headers)
  const filled = async (text: string): Promise<string> =>
    text
      .replaceAll('EXTENSION', await first('extensions', 'extensionId'))
      .replaceAll('MESSAGE', await first('messages', 'messageId'))
      .replaceAll('SUBSCRIPTION', await first('subscriptions', 'subscriptionId'))
      .replaceAll('"JWT"', text.includes('"JWT"') ? JSON.stringify(await newJwt(control)) : '')
  for (const { name, isReading, body, answer } of rows) {
    const posted = body === null ? null : await filled(body)
    const response = await fetch(`${control}/${name}`, { method: 'POST', headers, body: posted })
    const got: unknown = await response.json()
    expect([name, response.status, shapeOf(got)]).toEqual([name, 200, shapeOf(answer)])
    const query = new URLSearchParams(posted === null ? {} : (JSON.parse(posted) as Record<string, string>))
    const read = await fetch(`${control}/${name}?${query}`)
    expect([name, read.status]).toEqual([name, isReading ? 200 : 405])
    if (isReading) expect([name, shapeOf(await read.json())]).toEqual([name, shapeOf(answer)])
  }
  expect((await fetch(`${control}/nothing`)).status).toBe(404)
  expect((await fetch(`${control}/reset`, { method: 'POST', body: '{}' })).status).toBe(415)
  const unknown = await fetch(`${control}/fault`, {
    method: 'POST',
    headers,
    body: '{"route":"x","fault":{"kind":"reset"}}',
  })
  expect([unknown.status, await unknown.text()]).toEqual([400, expect.stringMatching(/^\{"error":"Unknown route x/)])
}, 30_000)
