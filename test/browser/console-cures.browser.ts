import { expect, test } from 'bun:test'
import { expectAccessible, openConsole } from '../support/console.ts'
import { startReceiver } from '../support/receiver.ts'
import { setRetryPolicy, setWebhookUrl } from '../support/retries.ts'
import { createWorld } from '../support/world.ts'

test('the cure of a revoked extension has one name and leads to both ways, wherever it is offered', async () => {
  await using world = await createWorld()
  for (const { extensionId } of world.control.extensions()) world.control.revokeTokens({ extensionId })
  const id = await world.send()
  await world.untilStatus(id, ['failed'])
  for (const [view, where] of [
    ['messages', '.list-head'],
    [`messages?id=${id}`, '.detail'],
    ['overview', '.overview-head'],
    ['numbers', '.thing'],
  ] as const) {
    await using opened = await openConsole(world.url, { hash: `#/${view}`, width: 1440 })
    const { page, complaints } = opened
    const cure = page.locator(where)
    await cure.getByRole('button', { name: 'Authorize again' }).click()
    expect([view, await cure.getByRole('button', { name: 'Make invite link' }).count()]).toEqual([view, 0])
    const dialog = page.getByRole('dialog', { name: /^Authorize .*extension.* again$/ })
    const link = await dialog.getByRole('link', { name: 'Go to RingCentral' }).getAttribute('href')
    expect(new URL(link ?? '').pathname).toStartWith('/v1/rc/')
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Make invite link' }).click()
    await page.getByRole('dialog', { name: 'Invite link' }).locator('.mono', { hasText: '/v1/rc/' }).waitFor()
    expect(complaints).toEqual([])
  }
})

test('a webhook that fails says since when, and when it is tried again or that it is not', async () => {
  await using world = await createWorld()
  await using receiver = startReceiver(500)
  await setWebhookUrl(world, receiver.url)
  await setRetryPolicy(world, 'none')
  const fail = async (): Promise<void> => {
    const before = receiver.requests.length
    await world.control.injectSms({ text: 'Hello' })
    await receiver.received(before + 1)
  }
  await fail()
  await using opened = await openConsole(world.url, { hash: '#/webhooks', width: 390, height: 844 })
  const { page, complaints } = opened
  const head = page.locator('.list-head')
  await head.getByRole('heading', { name: /answers 500: 1 attempt failed since \d\d:\d\d:\d\d\.$/ }).waitFor()
  await head.getByText('What failed is not tried again by itself.').waitFor()
  await head.getByRole('link', { name: /^Recover since / }).waitFor()
  await expectAccessible(page)
  await setRetryPolicy(world, 'short')
  await fail()
  await page.reload()
  await head.getByText(/^Next attempt at \d\d:\d\d:\d\d\.$/).waitFor()
  await page.getByRole('link', { name: 'Overview' }).last().click()
  await page
    .locator('.overview-lead', { hasText: /^Since \d\d:\d\d:\d\d\. Next attempt at \d\d:\d\d:\d\d\.$/ })
    .waitFor()
  expect(complaints).toEqual([])
})
