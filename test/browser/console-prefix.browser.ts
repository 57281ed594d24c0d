import { expect, test } from 'bun:test'
import { createLink } from '../../src/operator/session.ts'
import { newLink } from '../support/connect-flow.ts'
import { type ConsolePage, openConsole } from '../support/console.ts'
import { startReverseProxy } from '../support/reverse-proxy.ts'
import { FROM, TO, createWorld } from '../support/world.ts'

const PREFIX = '/sms-gateway'

/** A gateway whose public address is below the prefix of a proxy, which takes it from the paths. */
async function belowPrefix() {
  const stack = new AsyncDisposableStack()
  const world = stack.use(await createWorld())
  const proxy = stack.use(await startReverseProxy(world.url, PREFIX))
  // The name that `openConsole` types.
  const publicUrl = proxy.url.replace('127.0.0.1', 'localhost')
  world.gateway.config.publicUrl = publicUrl
  return {
    world,
    publicUrl,
    origin: new URL(publicUrl).origin,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** What was asked for that is not below the prefix. */
const outside = ({ requests }: ConsolePage): string[] =>
  requests.filter((request) => !new RegExp(`^[A-Z]+ ${PREFIX}/`).test(request))

test('below the prefix of a proxy the console opens by its link, and shows what comes in live', async () => {
  await using stage = await belowPrefix()
  const { world, origin } = stage
  const link = new URL((await createLink(world.gateway)).url)
  expect(link.href).toStartWith(`${stage.publicUrl}/console/#login=sgwlogin_`)
  await using opened = await openConsole(origin, { path: link.pathname, hash: `${link.hash}&/messages` })
  const { page } = opened
  await page.locator('.connection', { hasText: 'Live' }).waitFor()
  await world.control.injectSms({ from: TO, to: FROM, text: 'Is this table free?' })
  await page.getByText('Is this table free?').first().waitFor()
  // The session outlives the page, and each view is a file of its own.
  await page.reload()
  for (const view of ['Overview', 'Webhooks', 'Setup']) {
    const loaded = page.waitForResponse((answer) => answer.url().endsWith(`/${view.toLowerCase()}.js`))
    await page.getByRole('link', { name: view }).first().click()
    expect((await loaded).status()).toBe(200)
  }
  await page.locator('.connection', { hasText: 'Live' }).waitFor()
  expect(outside(opened)).toEqual([])
  expect(opened.complaints).toEqual([])
  expect(page.url()).toStartWith(`${stage.publicUrl}/console/#/numbers`)
  // Another gateway on this host has a session of its own.
  const stored = await page.evaluate<string[]>('Object.keys(localStorage)')
  expect(stored.filter((name) => name.startsWith('sgw.operator'))).toEqual([`sgw.operator${PREFIX}`])
})

test('below a prefix an extension connects by its link, and browsers find the console from the prefix alone', async () => {
  await using stage = await belowPrefix()
  const { world, origin } = stage
  await using opened = await openConsole(origin, { path: `${PREFIX}${await newLink(world)}` })
  const { page } = opened
  await page.getByRole('button', { name: 'Connect' }).click()
  await page.getByRole('heading', { name: 'Connected' }).waitFor()
  expect(page.url()).toStartWith(`${stage.publicUrl}/v1/rc/callback?`)
  for (const path of ['/', '/console']) {
    await page.goto(`${stage.publicUrl}${path}`)
    await page.locator('.connection', { hasText: 'Live' }).waitFor()
    expect(page.url()).toStartWith(`${stage.publicUrl}/console/#/`)
  }
  // What is given to copy has the whole address.
  await page.getByText(`curl -s ${stage.publicUrl}/v1/sms/send`).waitFor()
})

test('below a prefix a request of the documentation page works with the session of the console', async () => {
  await using stage = await belowPrefix()
  await using opened = await openConsole(stage.publicUrl)
  const { page } = opened
  await page.locator('.connection', { hasText: 'Live' }).waitFor()
  await page.goto(`${stage.publicUrl}/docs/#/SMS/sendSms`)
  const block = page.locator('#operations-SMS-sendSms')
  // Swagger UI computes for four seconds of its own, which are half a minute on a busy machine.
  await block.locator('.btn.execute').click({ timeout: 90_000 })
  await block.locator('.live-responses-table .response-col_status').first().waitFor()
  expect(await block.locator('.live-responses-table .response').first().textContent()).toContain('"status": "queued"')
  expect(outside(opened)).toEqual([])
  expect(opened.complaints).toEqual([])
}, 120_000)
