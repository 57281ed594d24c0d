import { $ } from 'bun'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { chromium } from 'playwright-core'
import openapi from '../../docs/openapi.json'
import { browserOptions } from '../support/browser.ts'
import { temporaryFolder } from '../support/process.ts'
import { LoggedProgram, PROJECT, finished, freePort } from '../support/program.ts'
import { FROM, TO, createWorld } from '../support/world.ts'
import { AnsweringServer, answer } from './answers.ts'
import { PROGRAM, SENT, nodeAlone, nodeCommand, packPackages, projectWith } from './packed.ts'

/** Our own limit for what a page loads. */
const MAX_CLIENT_BYTES = 14 * 1024
const MAX_PACKAGE_BYTES = 1_000_000
/** What npm installs with it. */
const MAX_INSTALLED_MEGABYTES = 60
const MAX_CLIENT_PACKAGE_BYTES = 30_000

const folder = temporaryFolder()
const unpacked = folder.file('sgw')
let packages: Awaited<ReturnType<typeof packPackages>>

beforeAll(async () => {
  packages = await packPackages(folder.path)
})
afterAll(() => folder[Symbol.dispose]())

const filesIn = (cwd: string): string[] => [...new Bun.Glob('**/*').scanSync({ cwd, dot: true })].toSorted()

describe('the package', () => {
  test('is packed by npm where there is no Bun, which leaves package.json as it was', async () => {
    expect(packages.packing).toMatchObject([{ code: 0 }, { code: 0 }])
    const textOf = (root: string): Promise<string> => Bun.file(join(root, 'package.json')).text()
    expect(await textOf(packages.checkout)).toBe(await textOf(PROJECT))
  })

  test('has the gateway bundled, the client and the types, and nothing else', () => {
    const others = filesIn(unpacked).filter((file) => !/^dist\/gateway\/[\w-]+-[a-z0-9]{8}\.js$/.test(file))
    expect(others.map((file) => file.replace(/-[a-z0-9]{8}\./, '-HASH.'))).toEqual([
      'LICENSE',
      'README.md',
      'bin/sgw',
      'dist/THIRD-PARTY-LICENSES.txt',
      'dist/client.d.ts',
      'dist/client.js',
      'dist/gateway/cli.js',
      'dist/gateway/docs-HASH.css',
      'dist/gateway/reader-thread.js',
      'dist/gateway/renewal-thread.js',
      'dist/gateway/swagger-ui-bundle.js-HASH.br',
      'dist/gateway/swagger-ui.css-HASH.br',
      'dist/gateway/testing.js',
      'dist/testing.d.ts',
      'dist/testing.js',
      'package.json',
    ])
    expect(Bun.file(packages.tarball).size).toBeLessThan(MAX_PACKAGE_BYTES)
  })

  test('npm installs it with few packages, none of which has a script or a warning', async () => {
    const project = folder.file('installed')
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{}')
    const install = ['npm', 'install', '--save-dev', packages.tarball]
    const { code, stdout, stderr } = await finished(install, nodeAlone(folder.path), project)
    expect([code, `${stdout}${stderr}`]).toEqual([0, expect.not.stringMatching(/warn|script/i)])
    expect(existsSync(join(project, 'node_modules/@scarf'))).toBe(false)
    const [megabytes] = (await $`du -sm node_modules`.cwd(project).text()).split('\t')
    expect(Number(megabytes)).toBeLessThanOrEqual(MAX_INSTALLED_MEGABYTES)
  })

  test('shows the API on its own page, from its own files', async () => {
    const port = freePort()
    const cwd = folder.file('installed')
    const env = { ...nodeAlone(folder.path, 'bun'), PORT: String(port) }
    const log = folder.file('start.log')
    const command = [join(cwd, 'node_modules/.bin/sgw'), 'start']
    await using server = new LoggedProgram({ command, env, cwd, log })
    const url = `http://127.0.0.1:${port}`
    await server.serving(`${url}/health`)
    for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css']) {
      const served = await (await fetch(`${url}/docs/${name}`)).text()
      expect(served).toBe(await Bun.file(join(PROJECT, 'node_modules/swagger-ui-dist', name)).text())
    }
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as typeof openapi
    expect(Object.keys(document.paths)).toEqual(Object.keys(openapi.paths))
    expect(await (await fetch(`${url}/console/`)).text()).toContain('<html data-simulator')
  })

  test('sends and hears under Bun, and starts a gateway for its tests', async () => {
    const project = folder.file('bun')
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{"type":"module"}')
    await $`bun add ${packages.tarball}`.cwd(project).quiet()
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

    const command = join(project, 'node_modules/.bin/sgw')
    expect(await finished([command, '--version'], nodeAlone(folder.path), project)).toEqual({
      code: 69,
      stdout: '',
      stderr: expect.stringContaining('sgw runs on Bun, which is not here: run "npx -y bun@1.4.4 run sgw"'),
    })
    const { code, stdout } = await finished([command, '--version'], nodeAlone(folder.path, 'bun'), project)
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+/)])
  })

  test('has types of the test kit that say all of what its provider takes and answers', async () => {
    const cwd = projectWith(folder.path, { sgw: unpacked })
    writeFileSync(
      join(cwd, 'kit.ts'),
      `import { startTestGateway } from 'sgw/testing'
      const { provider } = await startTestGateway()
      const status: string = provider.setExtensionStatus({ extensionId: '1', status: 'Disabled' }).status
      // @ts-expect-error there is no such status
      provider.setExtensionStatus({ extensionId: '1', status })
      // @ts-expect-error there is no such setting
      provider.configure({ sentAfter: 5 })`,
    )
    const options = '--ignoreConfig --noEmit --strict --target esnext --lib esnext,dom --module nodenext'.split(' ')
    const { stdout, exitCode } = await $`${PROJECT}/node_modules/.bin/tsc ${options} --types "" kit.ts`
      .cwd(cwd)
      .nothrow()
      .quiet()
    expect([exitCode, stdout.toString()]).toEqual([0, ''])
  })

  test('says under Node.js that the test kit needs Bun', async () => {
    const project = projectWith(folder.path, { sgw: unpacked })
    writeFileSync(join(project, 'kit.mjs'), "import { startTestGateway } from 'sgw/testing'\nawait startTestGateway()")
    for (const major of [20, 22]) {
      const { code, stderr } = await finished([await nodeCommand(major), 'kit.mjs'], nodeAlone(folder.path), project)
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/^Error: sgw\/testing .* run these tests with bun test$/m),
      ])
    }
  })

  test('has what the appointment reminder needs outside of the repository', async () => {
    const project = folder.file('reminder')
    await $`cp -r ${PROJECT}/examples/appointment-reminder ${project}`
    const rewrite = async (name: string, change: (text: string) => string): Promise<void> => {
      const file = join(project, name)
      writeFileSync(file, change(await Bun.file(file).text()))
    }
    await rewrite('package.json', (text) => text.replace('file:../..', `file:${packages.tarball}`))
    await rewrite('tsconfig.json', (text) => text.replace(/,\s*"paths": \{[^}]*\}/, ''))
    await $`bun install`.cwd(project).quiet()
    const types = await $`bun run types`.cwd(project).nothrow().quiet()
    expect([types.exitCode, types.stdout.toString()]).toEqual([0, ''])
    const { stderr, exitCode } = await $`bun test`.cwd(project).nothrow().quiet()
    expect([exitCode, stderr.toString()]).toEqual([0, expect.stringContaining('6 pass')])
  })
})

describe('the package of the client alone', () => {
  test('has the client, its types, and no dependency', async () => {
    const content = folder.file('sgw-client')
    expect(filesIn(content)).toEqual(['LICENSE', 'README.md', 'client.d.ts', 'client.js', 'package.json'])
    const manifest = (await Bun.file(join(content, 'package.json')).json()) as object
    expect(Object.keys(manifest).filter((name) => /dependencies|scripts|private/i.test(name))).toEqual([])
    expect(Bun.file(packages.clientTarball).size).toBeLessThan(MAX_CLIENT_PACKAGE_BYTES)
  })

  test('sends and hears under Bun', async () => {
    await using world = await createWorld()
    const project = projectWith(folder.path, {})
    await $`bun add ${packages.clientTarball}`.cwd(project).quiet()
    writeFileSync(join(project, 'main.ts'), programFor('sgw-client', world))
    expect(await $`${process.execPath} main.ts`.cwd(project).text()).toBe(`${SENT}\n`)
  })

  test('sends and hears under Node.js 20 with the package ws, as its README says', async () => {
    await using world = await createWorld()
    const ws = join(PROJECT, 'node_modules/ws')
    const project = projectWith(folder.path, { 'sgw-client': folder.file('sgw-client'), ws })
    const readme = await Bun.file(folder.file('sgw-client/README.md')).text()
    const [, example = ''] = [...readme.matchAll(/```ts\n([^]*?)```/g)].map(([, text = '']) => text)
    writeFileSync(join(project, 'readme.mjs'), `${example.split('for await')[0]}\nconsole.log((await sgw.me()).name)`)
    const env = { ...nodeAlone(folder.path), SGW_URL: world.url, SGW_KEY: world.key }
    const node = await nodeCommand(20)
    expect(await finished([node, 'readme.mjs'], env, project)).toMatchObject({ code: 0, stdout: 'First app\n' })
    const program = `import { WebSocket } from 'ws'\n${programFor('sgw-client', world, '{ WebSocket }')}`
    writeFileSync(join(project, 'main.mjs'), program)
    expect(await finished([node, 'main.mjs'], env, project)).toMatchObject({ code: 0, stdout: `${SENT}\n` })
  })
})

describe.each([
  { name: 'sgw', specifier: 'sgw/client', file: 'dist/client.js' },
  { name: 'sgw-client', specifier: 'sgw-client', file: 'client.js' },
])('the client in the package $name', ({ name, specifier, file }) => {
  const project = (): string => projectWith(folder.path, { [name]: folder.file(name) })

  test('is one small file that imports nothing', async () => {
    const text = await Bun.file(join(folder.file(name), file)).text()
    expect(text.length).toBeLessThan(MAX_CLIENT_BYTES)
    expect(gzipSync(text).length).toBeLessThan(MAX_CLIENT_BYTES / 2)
    expect(new Bun.Transpiler({ loader: 'js' }).scanImports(text)).toEqual([])
  })

  test('shows a short line of itself under Node.js for an error that nobody catches', async () => {
    const cwd = project()
    const unreachable =
      "new Sgw({ baseUrl: 'http://127.0.0.1:9', apiKey: 'sgw_x', maxRetries: 0, WebSocket: class {} })"
    writeFileSync(join(cwd, 'main.mjs'), `import { Sgw } from '${specifier}'\nawait ${unreachable}.me()`)
    const { code, stderr } = await finished([await nodeCommand(20), 'main.mjs'], nodeAlone(folder.path), cwd)
    expect(code).toBe(1)
    expect(stderr).toContain('SgwError')
    for (const line of stderr.split('\n')) expect(line.length).toBeLessThan(300)
  })

  test('has types that need no other package, and none of the gateway', async () => {
    const cwd = project()
    writeFileSync(
      join(cwd, 'main.ts'),
      `import { Sgw, SgwError, verifyWebhook, type Message, type WebhookBody } from '${specifier}'
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
      .cwd(cwd)
      .nothrow()
      .quiet()
    expect([exitCode, stdout.toString()]).toEqual([0, ''])
  })

  test('sends and hears under Node.js 22, without any other package', async () => {
    await using world = await createWorld()
    using elsewhere = new AnsweringServer(answer(200))
    using redirecting = new AnsweringServer(answer(307, {}, { Location: elsewhere.url }))
    const cwd = project()
    const redirect = `console.log(await redirected(Sgw, '${redirecting.url}'))`
    writeFileSync(join(cwd, 'main.mjs'), `${programFor(specifier, world)}\n${redirect}`)
    const [from, to] = [redirecting, elsewhere].map(({ url }) => url.slice(0, -1))
    expect((await $`${await nodeCommand(22)} main.mjs`.cwd(cwd).text()).trim().split('\n')).toEqual([
      SENT,
      `307 ${from} redirects to ${to}: set baseUrl to the gateway itself`,
    ])
    expect([redirecting.requests.length, elsewhere.requests.length]).toEqual([1, 0])
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
          ? new Response(Bun.file(join(folder.file(name), file)))
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

function programFor(specifier: string, { url, key }: { url: string; key: string }, options = '{}'): string {
  return `import { Sgw } from '${specifier}'\nconsole.log(await main(Sgw, '${url}', '${key}', ${options}))\n${PROGRAM}`
}
