import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { startTestGateway } from '../../src/testing/index.ts'
import { expectAccessible, openConsole } from '../support/console.ts'
import { openAsOperator } from '../support/console-operator.ts'
import { PNG } from '../support/media.ts'
import { createWorld, FROM, TO, until } from '../support/world.ts'

const TOLL_FREE = '+18885550100'
const PICTURE = { name: 'door.png', mimeType: 'image/png', buffer: PNG }

test('a picture that was attached by the button is shown with its size, and arrives on the contact’s phone', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url)
  const { page, complaints, requests } = opened
  await page.getByRole('button', { name: 'Send the first text' }).waitFor()
  await page.getByLabel('Text from your app').fill('A parcel is here.')
  await choose(page, [PICTURE, { name: 'menu.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7') }])
  await attached(page, 'door.png').getByText('1 KB').waitFor()
  expect(await attached(page, 'door.png').locator('img').getAttribute('src')).toBe(dataUrl)
  await attached(page, 'menu.pdf').getByText('PDF', { exact: true }).waitFor()
  await page.getByText('2 files, 1 KB of 1.5 MB, 17 of 1,000 characters').waitFor()
  await expectAccessible(page)
  // Nothing leaves the page before it is sent.
  expect(requests.filter((request) => request.includes('/v1/sms/media'))).toEqual([])
  await page.getByRole('button', { name: 'Send the first text' }).click()
  const { text, attachments } = await gateway.phone(TO).waitFor('A parcel is here.')
  expect(text).toBe('A parcel is here.')
  expect(attachments.map(({ contentType, fileName }) => [contentType, fileName])).toEqual([
    ['image/png', 'door.png'],
    ['application/pdf', 'menu.pdf'],
  ])
  expect(Buffer.from(attachments[0]?.bytes ?? []).equals(PNG)).toBe(true)
  const picture = page.locator('.thread').getByRole('img', { name: 'door.png' })
  await picture.waitFor()
  expect(await picture.getAttribute('src')).toBe(dataUrl)
  await page.locator('.said.outbound', { hasText: 'menu.pdf, application/pdf, 1 KB' }).waitFor()
  expect(await list(page).count()).toBe(0)
  expect(await page.getByLabel('Text from your app').inputValue()).toBe('')
  expect(complaints).toEqual([])
})

test('files are dropped anywhere on the page and pasted into the text, and each can be removed by the keyboard', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url)
  const { page, complaints } = opened
  const field = page.getByLabel('Text from your app')
  await page.getByRole('button', { name: 'Send the first text' }).waitFor()
  await field.fill('')
  await transfer(page, 'main', 'dragover', ['dropped.png'])
  await page.getByText('Drop the files to attach them.').waitFor()
  expect(await transfer(page, 'main', 'drop', ['dropped.png'])).toBe('taken')
  await attached(page, 'dropped.png').waitFor()
  expect(await page.getByText('Drop the files to attach them.').count()).toBe(0)
  expect(await transfer(page, 'textarea', 'paste', ['pasted.png', 'second.png'])).toBe('taken')
  await attached(page, 'second.png').waitFor()
  // What an office program copies is a text, with a picture of it.
  expect(await transfer(page, 'textarea', 'paste', ['of-a-table.png'], 'a table')).toBe('left')
  expect(await names(page)).toEqual(['dropped.png', 'pasted.png', 'second.png'])
  await page.getByRole('button', { name: 'Remove pasted.png' }).focus()
  await page.keyboard.press('Enter')
  await attached(page, 'pasted.png').waitFor({ state: 'detached' })
  // Without a text.
  await field.focus()
  await page.keyboard.press('Enter')
  const { attachments, text } = await gateway.phone(TO).waitFor(({ attachments: all }) => all.length > 0)
  expect([text, attachments.map(({ fileName }) => fileName)]).toEqual(['', ['dropped.png', 'second.png']])
  await page.locator('.group-head', { hasText: '2 attachments' }).waitFor()
  expect(complaints).toEqual([])
})

test('what is too large, empty, too much or of another type says so before anything is sent', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url)
  const { page, complaints, requests } = opened
  const send = page.getByRole('button', { name: 'Send the first text' })
  const file = (name: string, bytes: number, mimeType = 'image/png') => ({
    name,
    mimeType,
    buffer: Buffer.concat([PNG, Buffer.alloc(bytes)]).subarray(0, bytes),
  })
  const refused: readonly [one: ReturnType<typeof file>, why: string][] = [
    [file('large.png', 1_500_001), '1.5 MB. Too large: a message takes 1.5 MB.'],
    [file('page.html', 100, 'text/html'), '1 KB. This type of file cannot be sent.'],
    [file('drawing.svg', 100, 'image/svg+xml'), '1 KB. This type of file cannot be sent.'],
    [file('nothing.png', 0), '0 KB. Is empty.'],
  ]
  for (const [one, why] of refused) {
    await choose(page, [one])
    await attached(page, one.name).getByRole('alert').getByText(why, { exact: true }).waitFor()
    expect(await send.isDisabled()).toBe(true)
    await expectAccessible(page)
    await page.getByRole('button', { name: `Remove ${one.name}` }).click()
    expect(await send.isDisabled()).toBe(false)
  }
  await choose(page, [file('a.png', 900_000), file('b.png', 700_000), file('c.png', 600_000)])
  await attached(page, 'b.png').getByText('Too large beside the others: 600 KB left.').waitFor()
  expect(await page.locator('li.bad').count()).toBe(1)
  await page.getByRole('button', { name: 'Remove a.png' }).click()
  await page.locator('li.bad').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Remove b.png' }).click()
  await choose(
    page,
    Array.from({ length: 10 }, (_, index) => file(`${index}.png`, 100)),
  )
  await attached(page, '9.png').getByText('A message takes 10 files.').waitFor()
  await page.getByRole('button', { name: 'Remove 9.png' }).click()
  await page.getByLabel('Text from your app').fill('x'.repeat(1001))
  await page.getByText('With files, a text can have at most 1,000 characters. Shorten it, or remove them.').waitFor()
  await page.getByText('1,001 of 1,000 characters').waitFor()
  expect(await send.isDisabled()).toBe(true)
  await page.keyboard.press('Enter')
  expect(requests.filter((request) => /\/v1\/sms\/(media|send)/.test(request))).toEqual([])
  expect(gateway.phone(TO).inbox).toEqual([])
  expect(complaints).toEqual([])
})

test('a number that cannot send pictures says so before anything is sent, and another one can', async () => {
  await using world = await createWorld({ connect: false, outside: true })
  const [{ extensionId } = { extensionId: '' }] = world.control.extensions()
  world.control.addNumber({ extensionId, phoneNumber: TOLL_FREE })
  await world.connect()
  await using opened = await openAsOperator(world, pairView(TOLL_FREE))
  const { page, complaints } = opened
  await choose(page, [PICTURE])
  await page.getByRole('alert').getByText('cannot send pictures or other files.').waitFor()
  await page.getByRole('alert').getByText('888').waitFor()
  expect(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true)
  await expectAccessible(page)
  await page.evaluate(`location.hash = ${JSON.stringify(pairView(FROM))}`)
  await choose(page, [PICTURE])
  await attached(page, 'door.png').waitFor()
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.locator('.thread .said-picture.outbound').waitFor()
  expect(world.control.messages({}).filter(({ direction }) => direction === 'Outbound')).toHaveLength(1)
  // What was attached for the other number is there still.
  await page.evaluate(`location.hash = ${JSON.stringify(pairView(TOLL_FREE))}`)
  await attached(page, 'door.png').waitFor()
  expect(complaints).toEqual([])
})

test('an upload that fails keeps text and files, and is sent once when it is tried again', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url)
  const { page } = opened
  await page.getByRole('button', { name: 'Send the first text' }).waitFor()
  await page.getByLabel('Text from your app').fill('Look')
  await choose(page, [PICTURE])
  const { promise: asked, resolve: answer } = Promise.withResolvers<void>()
  await page.route('**/v1/sms/media*', async (route) => {
    await asked
    await route.fulfill({ status: 409, json: { error: 'The gateway has reached its limit of media' } })
  })
  await page.getByRole('button', { name: 'Send the first text' }).click()
  await page.locator('.composer-facts').getByText('Uploading 1 of 1…').waitFor()
  expect(await page.locator('.composer [role=status]').first().textContent()).toBe('Uploading 1 of 1…')
  expect(await page.getByRole('button', { name: 'Send the first text' }).isDisabled()).toBe(true)
  expect(await page.getByRole('button', { name: 'Remove door.png' }).isDisabled()).toBe(true)
  answer()
  const error =
    'The gateway says: The gateway has reached its limit of media. Nothing was sent, and your text and files stay here.'
  await page.getByRole('alert').getByText(error).waitFor()
  expect(await page.getByLabel('Text from your app').inputValue()).toBe('Look')
  expect(await names(page)).toEqual(['door.png'])
  await page.unroute('**/v1/sms/media*')
  await page.getByRole('button', { name: 'Send the first text' }).click()
  await page.locator('.thread').getByRole('img', { name: 'door.png' }).waitFor()
  expect(gateway.phone(TO).inbox.map(({ text, attachments }) => [text, attachments.length])).toEqual([['Look', 1]])
})

test('what is attached while a text is being sent stays for the next one', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url)
  const { page } = opened
  await page.getByRole('button', { name: 'Send the first text' }).waitFor()
  await page.getByLabel('Text from your app').fill('Hello')
  const { promise: asked, resolve: answer } = Promise.withResolvers<void>()
  await page.route('**/v1/sms/send', async (route) => {
    await asked
    await route.continue()
  })
  await page.getByRole('button', { name: 'Send the first text' }).click()
  await choose(page, [PICTURE])
  answer()
  await page.locator('.thread').getByText('Hello').waitFor()
  await until(async () => (await page.getByLabel('Text from your app').inputValue()) === '')
  expect(await names(page)).toEqual(['door.png'])
})

test('where uploads are off nothing can be attached, and a dropped file is not taken', async () => {
  await using world = await createWorld({ outside: true, env: { MEDIA_LIMIT: '0' } })
  await using opened = await openAsOperator(world, pairView(FROM))
  const { page, complaints } = opened
  await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
  expect(await page.getByRole('button', { name: 'Attach' }).count()).toBe(0)
  expect(await transfer(page, 'main', 'drop', ['dropped.png'])).toBe('left')
  expect(await transfer(page, 'textarea', 'paste', ['pasted.png'])).toBe('left')
  expect(await list(page).count()).toBe(0)
  expect(complaints).toEqual([])
})

test('a message of a picture alone is in Messages with it, and is sent again with it while it is kept', async () => {
  await using gateway = await startTestGateway()
  const [from = ''] = gateway.numbers
  const media = [new File([PNG], 'door.png', { type: 'image/png' })]
  const { messageId } = await gateway.client.sms.sendAndWait({ from, to: TO, body: '', media })
  await using opened = await openConsole(gateway.url, { hash: '#/messages' })
  const { page, complaints } = opened
  await page.locator('.row', { hasText: '1 attachment' }).click()
  const picture = page.locator('.detail').getByRole('img', { name: 'door.png' })
  await picture.waitFor()
  await page.locator('.chart-line', { hasText: 'With 1 attachment.' }).waitFor()
  expect(await page.locator('.detail .bubble').count()).toBe(0)
  await expectAccessible(page)
  await page.keyboard.press('p')
  await picture.waitFor({ state: 'hidden' })
  await page.keyboard.press('p')
  await sendAgain(page)
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await gateway.phone(TO).waitFor(() => gateway.phone(TO).inbox.length === 2)
  expect(gateway.phone(TO).inbox.map(({ attachments }) => attachments.map(({ fileName }) => fileName))).toEqual([
    ['door.png'],
    ['door.png'],
  ])
  // A link alone opens it: the list does not have it.
  const mediaId = (await gateway.client.sms.attachments(messageId))[0]?.attachmentId ?? ''
  await gateway.client.sms.deleteMedia(mediaId)
  await page.goto(`${new URL(page.url()).origin}/console/?again#/messages?state=failed&id=${messageId}`)
  await sendAgain(page)
  await page
    .getByRole('dialog')
    .getByText('Its attachments are no longer kept. Attach the files again in the conversation.')
    .waitFor()
  expect(gateway.phone(TO).inbox).toHaveLength(2)
  expect(complaints.filter((complaint) => !complaint.includes('400'))).toEqual([])
})

for (const [width, theme] of [
  [320, 'light'],
  [390, 'dark'],
  [1440, 'light'],
] as const)
  test(`attached files fit in ${width} pixels in ${theme} and with forced colours, are hidden in privacy mode, and axe finds nothing`, async () => {
    await using world = await createWorld({ outside: true })
    await using opened = await openAsOperator(world, pairView(FROM), { width, height: 740, theme })
    const { page } = opened
    await choose(page, [PICTURE, { ...PICTURE, name: `${'long name '.repeat(20)}.svg`, mimeType: 'image/svg+xml' }])
    await page.locator('li.bad').waitFor()
    await expectAccessible(page)
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    const outside = `[...document.querySelectorAll('.composer *')].filter((each) => each.getClientRects().length > 0 && each.getBoundingClientRect().right > innerWidth + 1).length`
    expect(await page.evaluate<number>(outside)).toBe(0)
    await page.emulateMedia({ forcedColors: 'active' })
    await attached(page, 'door.png').locator('img').waitFor()
    await page.evaluate('document.activeElement.blur()')
    await page.keyboard.press('p')
    await attached(page, 'door.png').locator('img').waitFor({ state: 'hidden' })
  })

const dataUrl = `data:image/png;base64,${PNG.toString('base64')}`

const pairView = (number: string): string => `/conversations?${new URLSearchParams({ number, contact: TO })}`

const list = (page: Page) => page.getByRole('list', { name: 'Attached files' })
const attached = (page: Page, name: string) => list(page).getByRole('listitem').filter({ hasText: name })
const names = (page: Page): Promise<string[]> => list(page).locator('.mask').allTextContents()

interface Chosen {
  name: string
  mimeType: string
  buffer: Buffer
}

async function choose(page: Page, files: Chosen[]): Promise<void> {
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: 'Attach' }).click(),
  ])
  await chooser.setFiles(files)
}

/** Drags, drops or pastes files as a browser does. Says whether the page took them. */
const transfer = (page: Page, at: string, type: string, fileNames: string[], text = ''): Promise<string> =>
  page.evaluate<string>(`(() => {
    const data = new DataTransfer()
    const bytes = Uint8Array.from(atob('${PNG.toString('base64')}'), (character) => character.charCodeAt(0))
    for (const name of ${JSON.stringify(fileNames)}) data.items.add(new File([bytes], name, { type: 'image/png' }))
    if (${JSON.stringify(text)} !== '') data.setData('text/plain', ${JSON.stringify(text)})
    const init = { bubbles: true, cancelable: true, clipboardData: data, dataTransfer: data }
    const event = new ${type === 'paste' ? 'ClipboardEvent' : 'DragEvent'}('${type}', init)
    return document.querySelector('${at}').dispatchEvent(event) ? 'left' : 'taken'
  })()`)

async function sendAgain(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Send again as new…' }).click()
  await page.getByRole('dialog').getByText('A new message with the same attachment goes to').waitFor()
  await page.getByRole('button', { name: 'Send again', exact: true }).click()
}
