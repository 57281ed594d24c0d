import { $ } from 'bun'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { chromium } from 'playwright-core'
import packageFile from '../../package.json'
import { browserOptions } from '../support/browser.ts'
import { temporaryFolder } from '../support/process.ts'
import { PROJECT } from '../support/program.ts'
import { FROM, TO, createWorld } from '../support/world.ts'
import { AnsweringServer, answer } from './answers.ts'

/** Our own limit for what a page loads. */
const MAX_CLIENT_BYTES = 13.5 * 1024
const MAX_PACKAGE_BYTES = 800_000

/** Sends an SMS and prints what `events()` yields of it, and what a redirect leads to. It is the same for all that can import the client. */
const PROGRAM = `
async function main(Sgw, baseUrl, apiKey) {
  const sgw = new Sgw({ baseUrl, apiKey })
  const statuses = []
  const stream = sgw.events({ onState: ({ online }) => online && send() })
  let message
  const send = () => (message ??= sgw.sms.sendAndWait({ to: '${TO}', from: '${FROM}', body: 'Hello' }))
  for await (const event of stream) {
    if (event.type === 'sms_status') statuses.push(event.status)
    if (event.status === 'sent') break
  }
  return JSON.stringify({ statuses, status: (await message).status })
}
function redirected(Sgw, baseUrl) {
  return new Sgw({ baseUrl, apiKey: 'sgw_key' }).me().catch(({ status, message }) => status + ' ' + message)
}`
const SENT = JSON.stringify({ statuses: ['queued', 'sending', 'sent'], status: 'sent' })

const folder = temporaryFolder()
const unpacked = folder.file('package')
const tarball = folder.file(`sgw-${packageFile.version}.tgz`)

beforeAll(async () => {
  await $`npm pack --silent --pack-destination ${folder.path}`.cwd(PROJECT).quiet()
  await $`tar xzf ${tarball}`.cwd(folder.path)
})
afterAll(() => folder[Symbol.dispose]())

describe('the package', () => {
  test('has the source, the migrations and the client, and nothing else', async () => {
    const files = [...new Bun.Glob('**/*').scanSync({ cwd: unpacked, dot: true })].toSorted()
    const others = files.filter(
      (file) => !/^src\/.*\.(tsx?|js|css|svg|html|json)$|^drizzle\/\d{4}_\w+\.sql$/.test(file),
    )
    expect(others).toEqual([
      'LICENSE',
      'README.md',
      'dist/client.d.ts',
      'dist/client.js',
      'dist/testing.d.ts',
      'dist/testing.js',
      'package.json',
      'tsconfig.json',
    ])
    expect(Bun.file(tarball).size).toBeLessThan(MAX_PACKAGE_BYTES)
  })

  test('has a client of one small file that imports nothing', async () => {
    const text = await Bun.file(join(unpacked, 'dist/client.js')).text()
    expect(text.length).toBeLessThan(MAX_CLIENT_BYTES)
    expect(gzipSync(text).length).toBeLessThan(MAX_CLIENT_BYTES / 2)
    expect(new Bun.Transpiler({ loader: 'js' }).scanImports(text)).toEqual([])
  })

  test('has types that need no other package, and none of the gateway', async () => {
    const project = projectWith(unpacked)
    writeFileSync(
      join(project, 'main.ts'),
      `import { Sgw, SgwError, verifyWebhook, type Message, type WebhookBody } from 'sgw/client'
      const sgw = new Sgw({ baseUrl: 'https://sms.example.com', apiKey: 'sgw_', fetch, WebSocket })
      export async function main(): Promise<Message[]> {
        for await (const event of sgw.events()) if (event.type === 'sms_inbound') console.log(event.body)
        const body: WebhookBody = await verifyWebhook({ body: '', headers: new Headers(), secret: 'whsec_' })
        if (body.type === 'test') throw new SgwError(body.source)
        // @ts-expect-error a message has no such field
        console.log((await sgw.sms.get('msg_1')).subject)
        return (await sgw.sms.list({ status: 'sent' }).page(1)).messages
      }`,
    )
    const options = '--ignoreConfig --noEmit --strict --target es2022 --lib es2022,dom --module nodenext'.split(' ')
    const { stdout, exitCode } = await $`${PROJECT}/node_modules/.bin/tsc ${options} --types "" main.ts`
      .cwd(project)
      .nothrow()
      .quiet()
    expect([exitCode, stdout.toString()]).toEqual([0, ''])
  })

  test('sends and hears under Bun, and starts a gateway for its tests', async () => {
    const project = folder.file('bun')
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{"type":"module"}')
    await $`bun add ${tarball}`.cwd(project).quiet()
    writeFileSync(
      join(project, 'sms.test.ts'),
      `import { expect, test } from 'bun:test'
      import { Sgw } from 'sgw/client'
      import { startTestGateway } from 'sgw/testing'
      test('an SMS', async () => {
        await using gateway = await startTestGateway()
        expect(gateway.client).toBeInstanceOf(Sgw)
        expect(await main(Sgw, gateway.url, gateway.apiKey)).toBe(${JSON.stringify(SENT)})
        expect((await gateway.phone('${TO}').waitFor('Hello')).from).toBe('${FROM}')
      })
      ${PROGRAM}`,
    )
    const { stderr, exitCode } = await $`bun test`.cwd(project).nothrow().quiet()
    expect([exitCode, stderr.toString()]).toEqual([0, expect.stringContaining('1 pass')])
  })

  test('has what the appointment reminder needs outside of the repository', async () => {
    const project = folder.file('reminder')
    await $`cp -r ${PROJECT}/examples/appointment-reminder ${project}`
    const rewrite = async (name: string, change: (text: string) => string): Promise<void> => {
      const file = join(project, name)
      writeFileSync(file, change(await Bun.file(file).text()))
    }
    await rewrite('package.json', (text) => text.replace('file:../..', `file:${tarball}`))
    await rewrite('tsconfig.json', (text) => text.replace(/,\s*"paths": \{[^}]*\}/, ''))
    await $`bun install`.cwd(project).quiet()
    const types = await $`bun run types`.cwd(project).nothrow().quiet()
    expect([types.exitCode, types.stdout.toString()]).toEqual([0, ''])
    const { stderr, exitCode } = await $`bun test`.cwd(project).nothrow().quiet()
    expect([exitCode, stderr.toString()]).toEqual([0, expect.stringContaining('6 pass')])
  })

  test('sends and hears under Node.js 22, without any other package', async () => {
    await using world = await createWorld()
    using elsewhere = new AnsweringServer(answer(200))
    using redirecting = new AnsweringServer(answer(307, {}, { Location: elsewhere.url }))
    const project = projectWith(unpacked)
    const [node = '', ...words] = await nodeCommand()
    writeFileSync(
      join(project, 'main.mjs'),
      `import { Sgw } from 'sgw/client'
      console.log(await main(Sgw, '${world.url}', '${world.key}'))
      console.log(await redirected(Sgw, '${redirecting.url}'))
      ${PROGRAM}`,
    )
    const [from, to] = [redirecting, elsewhere].map(({ url }) => url.slice(0, -1))
    expect((await $`${node} ${words} main.mjs`.cwd(project).text()).trim().split('\n')).toEqual([
      SENT,
      `307 ${from} redirects to ${to}: set baseUrl to the gateway itself`,
    ])
    expect([redirecting.requests.length, elsewhere.requests.length]).toEqual([1, 0])
    writeFileSync(join(project, 'kit.mjs'), "import 'sgw/testing'")
    const { stderr, exitCode } = await $`${node} ${words} kit.mjs`.cwd(project).nothrow().quiet()
    expect([exitCode, stderr.toString()]).toEqual([1, expect.stringContaining('run these tests with bun test')])
  })

  test('sends and hears on a page in a browser', async () => {
    await using stack = new AsyncDisposableStack()
    const page = `<!doctype html><script type="module">
      import { Sgw } from '/client.js'
      const [url, key] = location.hash.slice(1).split('|')
      document.title = (await redirected(Sgw, location.origin + '/away')) + (await main(Sgw, url, key).catch(String))
      ${PROGRAM}</script>`
    const site = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: ({ url }) => {
        if (url.endsWith('/away/v1/me')) return Response.redirect('/elsewhere', 307)
        return url.endsWith('/client.js')
          ? new Response(Bun.file(join(unpacked, 'dist/client.js')))
          : new Response(page, { headers: { 'content-type': 'text/html' } })
      },
    })
    stack.defer(() => site.stop(true))
    const world = stack.use(await createWorld({ env: { CORS_ORIGINS: site.url.origin } }))
    const browser = await chromium.launch(browserOptions())
    stack.defer(() => browser.close())
    const tab = await browser.newPage()
    await tab.goto(`${site.url.href}#${world.url}|${world.key}`)
    await tab.waitForFunction('document.title !== ""', undefined, { timeout: 20_000 })
    const redirected = `302 ${site.url.origin}/away redirects: set baseUrl to the gateway itself`
    expect(await tab.title()).toBe(redirected + SENT)
  })
})

/** An empty project in which the package is unpacked and no other. */
function projectWith(content: string): string {
  const project = folder.file(`project-${crypto.randomUUID()}`)
  mkdirSync(join(project, 'node_modules'), { recursive: true })
  writeFileSync(join(project, 'package.json'), '{"type":"module"}')
  Bun.spawnSync(['cp', '-r', content, join(project, 'node_modules/sgw')])
  return project
}

/** The machine's Node.js if it is new enough, else that of the package `node`. */
async function nodeCommand(): Promise<string[]> {
  const version = await $`node --version`.nothrow().quiet().text()
  if (Number(/^v(\d+)/.exec(version)?.[1]) >= 22) return ['node']
  const installed = await $`npx -y node@22 --print process.execPath`.quiet().text()
  return [installed.trim()]
}
