import { $ } from 'bun'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, writeFileSync } from 'node:fs'
import { temporaryFolder } from '../support/process.ts'
import { PROJECT } from '../support/program.ts'
import { startReceiver } from '../support/receiver.ts'
import { FROM, TO, createWorld, until } from '../support/world.ts'

// Clients that others generate from docs/openapi.json compile, send an SMS and read its status and the attempts of webhooks. The generators
// need TypeScript 5, so they have a package of their own.

const DOCUMENT = `${PROJECT}/docs/openapi.json`
const PYTHON_GENERATOR = 'openapi-python-client==0.29.0'

const OPENAPI_TYPESCRIPT = `
import createClient from 'openapi-fetch'
import type { paths } from './schema'

const [baseUrl = '', key = ''] = process.argv.slice(2)
const client = createClient<paths>({ baseUrl, headers: { authorization: 'Bearer ' + key } })
const sent = await client.POST('/v1/sms/send', { body: { to: '${TO}', from: '${FROM}', body: 'Hello' } })
if (sent.data === undefined) throw new Error(sent.error.error)
const path = { messageId: sent.data.messageId }
const state = await client.GET('/v1/sms/status/{messageId}', { params: { path } })
const good = await client.GET('/v1/webhook-deliveries', { params: { query: { outcome: 'success', limit: 5 } } })
const all = await client.GET('/v1/webhook-deliveries')
const attempts = (all.data?.attempts ?? []).map((one) => [one.kind, one.outcome, one.statusCode, one.responseSnippet ?? '-'].join(' '))
console.log([state.data?.body, state.data?.status, good.data?.total, ...attempts.sort()].join('\\n'))
`

const HEY_API = `
import { client } from './hey/client.gen'
import { getSmsStatus, listWebhookDeliveries, sendSms } from './hey'

const [baseUrl = '', auth = ''] = process.argv.slice(2)
client.setConfig({ baseUrl, auth })
const sent = await sendSms({ body: { to: '${TO}', from: '${FROM}', body: 'Hello' }, throwOnError: true })
const state = await getSmsStatus({ path: { messageId: sent.data.messageId }, throwOnError: true })
const good = await listWebhookDeliveries({ query: { outcome: 'success', limit: 5 }, throwOnError: true })
const all = await listWebhookDeliveries({ throwOnError: true })
const attempts = all.data.attempts.map((one) => [one.kind, one.outcome, one.statusCode, one.responseSnippet ?? '-'].join(' '))
console.log([state.data.body, state.data.status, good.data.total, ...attempts.sort()].join('\\n'))
`

const PYTHON = `
import sys
from sgw_client import AuthenticatedClient
from sgw_client.api.sms import get_sms_status, send_sms
from sgw_client.api.webhooks import list_webhook_deliveries
from sgw_client.models import DeliveryOutcome, SendSmsRequest

client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2])
sent = send_sms.sync(client=client, body=SendSmsRequest(to="${TO}", from_="${FROM}", body="Hello"))
state = get_sms_status.sync(sent.message_id, client=client)
good = list_webhook_deliveries.sync(client=client, outcome=DeliveryOutcome.SUCCESS, limit=5)
log = list_webhook_deliveries.sync(client=client)
attempts = [f"{one.kind.value} {one.outcome.value} {one.status_code} {one.response_snippet or '-'}" for one in log.attempts]
print(state.body, state.status.value, good.total, *sorted(attempts), sep="\\n")
`

const TSCONFIG = {
  compilerOptions: {
    noEmit: true,
    strict: true,
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'esnext',
    lib: ['esnext', 'dom', 'dom.iterable'],
    types: [],
  },
}

const PRINTED = /^Hello\n(queued|sending|sent)\n1\napp success 200 -\ntrigger http_error 500 out of order$/

/** What a client's program prints about a gateway with two attempts: the app's succeeded, the trigger's failed. */
async function printed(run: (url: string, key: string) => Promise<string>): Promise<string> {
  await using good = startReceiver()
  await using bad = startReceiver()
  bad.answer = () => new Response('out of order', { status: 500 })
  await using world = await createWorld()
  await world.call('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: good.url } })
  await world.call('POST', '/v1/triggers', { body: { callbackUrl: bad.url } })
  await world.control.injectSms({ text: 'Hi' })
  await until(async () => (await world.json<{ total: number }>('GET', '/v1/webhook-deliveries')).body.total === 2)
  return (await run(world.url, world.key)).trim()
}

describe('TypeScript', () => {
  const folder = temporaryFolder()
  afterAll(() => folder[Symbol.dispose]())

  beforeAll(async () => {
    for (const name of ['package.json', 'bun.lock']) cpSync(`${import.meta.dir}/${name}`, folder.file(name))
    await $`bun install --frozen-lockfile --ignore-scripts`.cwd(folder.path).quiet()
    await $`bunx openapi-typescript ${DOCUMENT} -o schema.d.ts`.cwd(folder.path).quiet()
    await $`bunx openapi-ts -i ${DOCUMENT} -o hey --no-log-file`.cwd(folder.path).quiet()
    writeFileSync(folder.file('globals.d.ts'), 'declare const process: { argv: string[] }\n')
    writeFileSync(folder.file('tsconfig.json'), JSON.stringify(TSCONFIG))
    writeFileSync(folder.file('openapi-typescript.ts'), OPENAPI_TYPESCRIPT)
    writeFileSync(folder.file('hey-api.ts'), HEY_API)
  })

  for (const name of ['openapi-typescript', 'hey-api']) {
    test(`the client of ${name} compiles and works`, async () => {
      const { stdout, exitCode } = await $`bunx tsc`.cwd(folder.path).nothrow().quiet()
      expect([exitCode, stdout.toString()]).toEqual([0, ''])
      expect(await printed((url, key) => $`bun ${name}.ts ${url} ${key}`.cwd(folder.path).text())).toMatch(PRINTED)
    })
  }
})

const python = ['python3', 'python'].map((name) => Bun.which(name)).find((path) => path !== null)

// Python is not needed to develop sgw, so a machine without it leaves the test out.
test.if(python !== undefined)('the client of openapi-python-client compiles and works', async () => {
  using folder = temporaryFolder()
  const tool = (name: string): string => folder.file(`venv/bin/${name}`)
  await $`${python} -m venv venv`.cwd(folder.path).quiet()
  await $`${tool('pip')} install --quiet --disable-pip-version-check ${PYTHON_GENERATOR}`.cwd(folder.path).quiet()
  await $`${tool('openapi-python-client')} generate --path ${DOCUMENT} --output-path client`.cwd(folder.path).quiet()
  writeFileSync(folder.file('client/program.py'), PYTHON)
  await $`${tool('python')} -m compileall -q client`.cwd(folder.path).quiet()
  const program = (url: string, key: string) => $`${tool('python')} client/program.py ${url} ${key}`.cwd(folder.path)
  expect(await printed((url, key) => program(url, key).text())).toMatch(PRINTED)
})
