import { expect, test } from 'bun:test'
import { startTestGateway } from '../../src/testing/index.ts'
import { openConsole } from '../support/console.ts'
import { startCuttableProxy } from '../support/cuttable.ts'

const TO = '+15555550199'

test('offline is said with its time, and what happened meanwhile is caught up', async () => {
  await using gateway = await startTestGateway()
  using proxy = startCuttableProxy(gateway.url)
  await using opened = await openConsole(proxy.url, { hash: '#/messages' })
  const { page } = opened
  await page.getByText('No messages yet.').waitFor()
  await page.locator('.connection', { hasText: 'Live' }).waitFor()
  proxy.cut()
  await page.locator('.offline-bar', { hasText: /^Offline since \d\d:\d\d:\d\d\. Trying again/ }).waitFor()
  const [from = ''] = gateway.numbers
  await gateway.client.sms.sendAndWait({ from, to: TO, body: 'sent while offline' })
  proxy.mend()
  await page.locator('.row', { hasText: 'sent while offline' }).waitFor()
  await page.locator('.connection', { hasText: 'Live' }).waitFor()
})

test('on a phone, offline is said above the view, and a text that was not taken says so', async () => {
  await using gateway = await startTestGateway()
  using proxy = startCuttableProxy(gateway.url)
  await using opened = await openConsole(proxy.url, { width: 390, height: 844 })
  const { page } = opened
  await page.getByRole('button', { name: 'Send the first text' }).waitFor()
  await opened.quiet()
  proxy.cut()
  await page.locator('.offline-bar', { hasText: /^Offline since \d\d:\d\d:\d\d\. Trying again/ }).waitFor()
  await page.getByRole('button', { name: 'Send the first text' }).click()
  await page.getByRole('alert').filter({ hasText: 'The gateway does not answer.' }).waitFor()
  proxy.mend()
  await page.locator('.offline-bar').waitFor({ state: 'detached' })
})

test('events that may be missing are told by a line, and loaded again', async () => {
  await using gateway = await startTestGateway()
  using proxy = startCuttableProxy(gateway.url)
  const [from = ''] = gateway.numbers
  await gateway.client.sms.sendAndWait({ from, to: TO, body: 'before' })
  await using opened = await openConsole(proxy.url, { hash: '#/messages' })
  const { page } = opened
  await page.locator('.row', { hasText: 'before' }).waitFor()
  await page.locator('.connection', { hasText: 'Live' }).waitFor()
  await page.route('**/v1/events?*', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...((await response.json()) as object), gap: true } })
  })
  proxy.cut()
  await page.locator('.offline-bar', { hasText: 'Offline' }).waitFor()
  proxy.mend()
  await page.getByText('may be missing.').waitFor()
  await page.getByRole('button', { name: 'Load them again' }).click()
  await page.getByText('may be missing.').waitFor({ state: 'detached' })
  await page.locator('.row', { hasText: 'before' }).waitFor()
})

test('a page is quiet while nothing happens, with a message open and on the phone', async () => {
  await using gateway = await startTestGateway()
  const [from = ''] = gateway.numbers
  const { messageId } = await gateway.client.sms.sendAndWait({ from, to: TO, body: 'quiet' })
  await using opened = await openConsole(gateway.url, { hash: `#/messages?id=${messageId}`, clock: 'moves' })
  const { page, requests } = opened
  await page.getByRole('heading', { name: /^Delivered/ }).waitFor()
  await page.locator('.connection', { hasText: 'Live' }).waitFor()
  await opened.quiet()
  const before = requests.length
  await page.clock.install()
  await page.clock.runFor(60_000)
  expect(requests.slice(before)).toEqual([])
  await page.goto(`${new URL(page.url()).origin}/console/#/phone`)
  // Another minute on the same socket would be longer than it may be silent.
  requests.length = 0
  await page.reload()
  await page.locator('.said.outbound', { hasText: 'quiet' }).waitFor()
  await page.locator('.connection', { hasText: 'Live' }).waitFor()
  await opened.quiet()
  const onPhone = requests.length
  await page.clock.runFor(60_000)
  expect(requests.slice(onPhone)).toEqual([])
})
