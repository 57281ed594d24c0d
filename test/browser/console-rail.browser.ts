import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { createLink } from '../../src/operator/session.ts'
import { openConsole, openView } from '../support/console.ts'
import { sharedByTests } from '../support/shared.ts'
import { type World, createWorld } from '../support/world.ts'

const withOneFailed = sharedByTests(async (stack) => {
  const world = stack.use(await createWorld())
  await world.untilStatus(await world.send({ from: '+15555550999' }))
  return world
})

for (const view of ['phone', 'webhooks', 'apps'])
  test(`the rail counts what failed when ${view} is the first view that is opened`, async () => {
    const world = await withOneFailed()
    await using opened = await openConsole(world.url, { hash: `#/${view}` })
    const { page, complaints } = opened
    await page.locator('.rail-count.bad', { hasText: '1 failed' }).waitFor()
    expect(complaints).toEqual([])
  })

test('a revoked extension is counted beside Setup from the first load, and the sentence leads to it', async () => {
  await using world = await createWorld({ outside: true })
  await using opened = await openConsole(world.url, { hash: '#/webhooks' })
  const { page, complaints } = opened
  await revoke(page, world)
  await page.goto(`${new URL(page.url()).origin}/console/${new URL((await createLink(world.gateway)).url).hash}`)
  await page.reload()
  const link = page.getByRole('link', { name: 'Extension 101' }).first()
  await link.waitFor()
  await page.locator('.rail-count.bad', { hasText: '1 cannot send' }).waitFor()
  await link.click()
  await page.getByRole('heading', { name: 'Extension 101', exact: true }).waitFor()
  expect(new URL(page.url()).hash).toMatch(/^#\/numbers\?id=/)
  expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Extension 101')
  await page.locator('.rail-count.bad', { hasText: '1 cannot send' }).waitFor()
  expect(complaints).toEqual([])
})

test('where nothing is wrong the rail counts nothing, and a list without rows has no count of rows', async () => {
  await using world = await createWorld()
  await using opened = await openConsole(world.url, { hash: '#/messages' })
  const { page } = opened
  for (const view of ['/messages', '/messages?state=failed', '/webhooks']) {
    await openView(page, view)
    await page.locator('.list .empty').waitFor()
    await opened.quiet()
    expect(await page.locator('.list-foot > span').first().textContent()).toBe('')
    expect(await page.locator('.rail-count').count()).toBe(0)
  }
})

/** What would take a provider that revokes its tokens: the extension is told as revoked. */
async function revoke(page: Page, world: World): Promise<void> {
  const { body } = await world.json<{ extensions: object[] }>('GET', '/v1/rc/extensions/health')
  const revoked = {
    ...body.extensions[0],
    extensionNumber: '101',
    status: 'revoked',
    reason: 'Its authorization has ended',
    since: new Date().toISOString(),
    fix: null,
  }
  await page.route('**/v1/rc/extensions/health', (route) => route.fulfill({ json: { extensions: [revoked] } }))
}
