import { expect, test } from 'bun:test'
import { expectAccessible } from '../support/console.ts'
import { openAsOperator } from '../support/console-operator.ts'
import { createWorld } from '../support/world.ts'

test('a bar of the overview leads to the messages of its time, by mouse and by the arrow keys', async () => {
  await using world = await createWorld({ outside: true })
  await world.untilStatus(await world.send({ body: 'in the last bar' }))
  await using opened = await openAsOperator(world, '/overview')
  const { page, complaints } = opened
  const bars = page.locator('.bars a')
  await bars.last().waitFor()
  expect(await bars.count()).toBe(48)
  await expectAccessible(page)
  await bars.last().focus()
  await page.keyboard.press('ArrowLeft')
  expect(await bars.nth(46).evaluate((bar) => bar === bar.ownerDocument.activeElement)).toBe(true)
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  await page.locator('.row', { hasText: 'in the last bar' }).waitFor()
  expect(new URL(page.url()).hash).toMatch(/^#\/messages\?after=\d{4}/)
  await page.goBack()
  await bars.nth(46).waitFor()
  await bars.nth(46).focus()
  await page.keyboard.press('Enter')
  await page.getByText('No message matches this filter.').waitFor()
  expect(complaints).toEqual([])
})
