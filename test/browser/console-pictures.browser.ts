import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { MediaSpec } from '../../src/simulator/inbound.ts'
import { expectAccessible } from '../support/console.ts'
import { openAsOperator } from '../support/console-operator.ts'
import { PNG, pngOf } from '../support/media.ts'
import { type World, FROM, TO, createWorld, until } from '../support/world.ts'

const file = (contentType: string, fileName: string, bytes: Buffer): MediaSpec & { data: string } => ({
  contentType,
  fileName,
  data: bytes.toString('base64'),
})
const PICTURE = file('image/png', 'door.png', PNG)
const LARGE = file('image/png', 'large.png', pngOf(1_000_001))
const BROKEN = file('image/jpeg', 'torn.jpg', Buffer.from('not a picture at all'))
const FILM = file('video/mp4', 'door.mp4', Buffer.from('film'))
const VIEW = `/conversations?${new URLSearchParams({ number: FROM, contact: TO })}`

test('a text without words has an icon and a word in Messages, in Conversations and in the thread', async () => {
  await using world = await createWorld({ outside: true })
  await receive(world, [PICTURE, FILM])
  for (const view of ['/messages', '/conversations']) {
    await using opened = await openAsOperator(world, view)
    const carried = opened.page.locator('.row .carried')
    await carried.getByText('2 attachments').waitFor()
    expect(await carried.locator('.icon').count()).toBe(1)
    await expectAccessible(opened.page)
    await opened.page.locator('.row').click()
    await opened.page.getByRole('img', { name: 'door.png' }).waitFor()
    await opened.page.getByRole('button', { name: 'door.mp4, video/mp4, 1 KB' }).waitFor()
    expect(opened.complaints).toEqual([])
  }
})

test('a click opens a picture large, the arrow keys lead to the others, Save saves each, and the focus returns', async () => {
  await using world = await createWorld({ outside: true })
  await receive(world, [PICTURE, LARGE, FILM])
  await using opened = await openAsOperator(world, VIEW)
  const { page, complaints } = opened
  await page.getByRole('button', { name: 'door.png' }).click()
  await dialog(page, 'Attachment 1 of 3').getByRole('img', { name: 'door.png' }).waitFor()
  await expectAccessible(page)
  expect(await saved(page)).toEqual(['door.png', sizeOf(PICTURE)])
  await page.keyboard.press('ArrowRight')
  const large = dialog(page, 'Attachment 2 of 3')
  await large.getByRole('img', { name: 'large.png' }).waitFor()
  expect(await saved(page)).toEqual(['large.png', sizeOf(LARGE)])
  await large.getByRole('button', { name: 'Next' }).click()
  await dialog(page, 'Attachment 3 of 3').getByText('door.mp4, video/mp4, 1 KB').waitFor()
  expect(await saved(page)).toEqual(['door.mp4', sizeOf(FILM)])
  // Both before either is drawn.
  await page.evaluate(
    `for (const key of ['ArrowRight', 'ArrowLeft']) dispatchEvent(new KeyboardEvent('keydown', { key }))`,
  )
  await dialog(page, 'Attachment 3 of 3').waitFor()
  await page.keyboard.press('ArrowRight')
  await dialog(page, 'Attachment 1 of 3').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await page.evaluate('document.activeElement.firstElementChild?.alt')).toBe('door.png')
  await page.keyboard.press('p')
  await page.getByRole('img', { name: 'door.png' }).waitFor({ state: 'hidden' })
  expect(complaints).toEqual([])
})

test('a picture that is broken, or that the provider does not give, says so, and can be saved all the same', async () => {
  await using world = await createWorld({ outside: true })
  await receive(world, [BROKEN])
  await using opened = await openAsOperator(world, VIEW)
  const { page } = opened
  await page.locator('.said').getByText('A browser cannot show this picture.').waitFor()
  await page.getByRole('button', { name: /^torn\.jpg/ }).click()
  await page.getByRole('dialog').getByText('A browser cannot show this picture.').waitFor()
  expect(await saved(page)).toEqual(['torn.jpg', sizeOf(BROKEN)])
  await page.keyboard.press('Escape')
  await page.route('**/attachments/*', (route) =>
    route.fulfill({ status: 502, json: { error: 'The provider did not give the attachment' } }),
  )
  await page.reload()
  await page.getByText('The gateway says: The provider did not give the attachment.').waitFor()
})

test('at most twenty pictures are kept in memory, those that were read last', async () => {
  await using world = await createWorld({ outside: true })
  for (let index = 0; index < 3; index++) {
    await receive(
      world,
      Array.from({ length: 9 }, (_, at) => ({ ...PICTURE, fileName: `${index}-${at}.png` })),
    )
  }
  await using opened = await openAsOperator(world, VIEW)
  const { page } = opened
  const pictures = page.locator('.said-picture')
  await until(async () => (await pictures.count()) === 18)
  const [oldest] = await page.getByRole('button', { name: 'Show 9 attachments' }).all()
  await oldest?.click()
  await until(async () => (await page.getByRole('button', { name: 'Show 9 attachments' }).count()) === 1)
  expect(await pictures.count()).toBe(18)
})

async function receive(world: World, attachments: MediaSpec[]): Promise<void> {
  const { total } = await count(world)
  await world.control.injectSms({ from: TO, to: FROM, text: '', attachments })
  await until(async () => (await count(world)).total > total)
}

const count = async (world: World): Promise<{ total: number }> =>
  (await world.json<{ total: number }>('GET', '/v1/sms/messages')).body

const sizeOf = ({ data }: { data: string }): number => Buffer.from(data, 'base64').length

const dialog = (page: Page, name: string) => page.getByRole('dialog', { name })

/** Presses Save, and returns the name and the size of the file. */
async function saved(page: Page): Promise<[name: string, size: number]> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('dialog').getByRole('button', { name: 'Save' }).click(),
  ])
  return [download.suggestedFilename(), Bun.file(await download.path()).size]
}
