import { expect, test } from 'bun:test'
import { expectAccessible, openConsole } from '../support/console.ts'
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
