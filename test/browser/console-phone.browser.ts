import { expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { startTestGateway } from '../../src/testing/index.ts'
import { expectAccessible, openConsole } from '../support/console.ts'
import { startReceiver } from '../support/receiver.ts'

const CONTACT = '+15555550199'
/** A picture of one pixel. */
const PNG = Uint8Array.fromBase64(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
)

test('the first text reaches the phone by one click, without a login', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url)
  const { page, complaints } = opened
  await page.getByRole('button', { name: 'Send the first text' }).click()
  await bubble(page, 'Hello from my app. Reply with anything.').waitFor()
  expect(gateway.phone(CONTACT).inbox.map(({ text }) => text)).toEqual(['Hello from my app. Reply with anything.'])
  await step(page, 'POST /v1/sms/send 202').waitFor()
  await step(page, 'attempt 1').waitFor()
  await step(page, 'sms_status sent').waitFor()
  await step(page, 'delivered').first().waitFor()
  expect(complaints).toEqual([])
})

test('`/` leads a browser to the phone', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url, { path: '/' })
  await opened.page.getByRole('heading', { name: 'This phone is simulated. Nothing leaves your machine.' }).waitFor()
  expect(new URL(opened.page.url()).pathname).toBe('/console/')
})

test('what is no number in the address is ignored, and not remembered', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url, {
    hash: `#/phone?number=javascript:alert(1)&contact=${'9'.repeat(65)}`,
  })
  const { page, complaints } = opened
  await page.getByRole('button', { name: 'Send the first text' }).click()
  await bubble(page, 'Hello from my app. Reply with anything.').waitFor()
  expect(gateway.phone(CONTACT).inbox).toHaveLength(1)
  expect(await page.evaluate<string>('localStorage["sgw.pair"]')).toContain(CONTACT)
  expect(complaints).toEqual([])
})

test('a reply of the contact reaches the app, step by step', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url)
  const { page, complaints } = opened
  await page.getByLabel('Text as the contact').fill('C')
  await page.keyboard.press('Enter')
  await page.locator('.said.inbound', { hasText: 'C' }).waitFor()
  await step(page, 'event 200, stored').click()
  await page.getByRole('button', { name: 'Response' }).click()
  expect(await page.locator('.exchange pre').textContent()).toContain('200')
  await step(page, 'sms_inbound').waitFor()
  const { messages } = await gateway.client.sms.list({ direction: 'inbound' }).page(1)
  expect(messages.map(({ body, from }) => [body, from])).toEqual([['C', CONTACT]])
  expect(complaints).toEqual([])
})

test('under the pointer, too, a button that does nothing looks so, and the chosen step has its colour', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url)
  const { page } = opened
  const look = (at: Locator): Promise<string> =>
    at.evaluate<string, unknown>('(element) => getComputedStyle(element).backgroundColor')
  await page.getByRole('button', { name: 'Send the first text' }).click()
  // One whose call is not read yet cannot be chosen.
  await page.locator('button.step', { hasText: 'delivered' }).first().click()
  const [send, chosen] = [page.locator('.composer .button:disabled'), page.locator('.step[aria-pressed=true]')]
  await chosen.waitFor()
  const under = await look(chosen)
  await send.hover({ force: true })
  expect(await look(chosen)).toBe(under)
  const dead = await look(send)
  await page.mouse.move(0, 0)
  expect(await look(send)).toBe(dead)
})

test('an event over a socket is shown as sent, because no frame is acknowledged', async () => {
  await using gateway = await startTestGateway({ events: 'websocket' })
  await using opened = await openConsole(gateway.url)
  const { page, complaints } = opened
  await page.getByLabel('Text as the contact').fill('C')
  await page.keyboard.press('Enter')
  await step(page, 'event sent over the socket').click()
  await page.locator('.exchange', { hasText: '"subscriptionId"' }).waitFor()
  expect(await page.locator('.exchange header b').textContent()).toStartWith(
    'Event from RingCentral: ServerNotification ',
  )
  expect(await page.getByRole('button', { name: 'Response' }).count()).toBe(0)
  expect(complaints).toEqual([])
})

test('a picture of a contact is in its bubble, a large or other file is named, and nothing of it runs', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url)
  const { page, complaints } = opened
  const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const svg = btoa(
    '<svg xmlns="http://www.w3.org/2000/svg" onload="document.title=1"><script>document.title=1</script></svg>',
  )
  const attachments = [
    { contentType: 'image/png', fileName: 'dot.png', data },
    { contentType: 'image/jpeg', fileName: 'large.jpg', data: btoa('x'.repeat(1_000_001)) },
    { contentType: 'image/svg+xml', fileName: 'evil.svg', data: svg },
    { contentType: 'video/mp4', fileName: 'a.mp4', data: btoa('x') },
  ]
  await page.getByRole('button', { name: 'Send the first text' }).waitFor()
  const title = await page.title()
  const answer = await page.evaluate(
    async ([from, to, sent]) => {
      const token = Object.values(localStorage).find((value) => /sgw_op_/.test(value)) ?? ''
      const key = /sgw_op_[\w-]+/.exec(token)?.[0] ?? ''
      const headers = { authorization: `Bearer ${key}` }
      const body = JSON.stringify({ from, to, text: '', attachments: sent })
      return (await fetch('/v1/operator/simulator/inbound', { method: 'POST', headers, body })).status
    },
    [CONTACT, gateway.numbers[0] ?? '', attachments] as const,
  )
  expect(answer).toBe(200)
  const picture = page.getByRole('img', { name: 'dot.png' })
  await picture.waitFor()
  expect(await picture.getAttribute('src')).toBe(`data:image/png;base64,${data}`)
  for (const named of ['image/jpeg, 1.0 MB', 'image/svg+xml, 1 KB', 'video/mp4, 1 KB'])
    await page.locator('.said.inbound', { hasText: named }).waitFor()
  expect(await page.locator('.thread img').count()).toBe(1)
  expect(await page.title()).toBe(title)
  await expectAccessible(page)
  expect(complaints).toEqual([])
})

test('a picture that the app sends is on the phone, once it is sent, and in the conversation of the console', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url)
  const { page, complaints } = opened
  const [from = ''] = gateway.numbers
  const media = [new File([PNG], 'door.png', { type: 'image/png' })]
  const { messageId } = await gateway.client.sms.sendAndWait({ from, to: CONTACT, body: '', media })
  const { text, attachments } = await gateway.phone(CONTACT).waitFor(() => true)
  expect([text, ...attachments]).toEqual(['', { contentType: 'image/png', fileName: 'door.png', bytes: PNG }])
  const picture = page.getByRole('img', { name: 'door.png' })
  await picture.waitFor()
  expect(await picture.getAttribute('src')).toBe(`data:image/png;base64,${PNG.toBase64()}`)
  await page.locator('.said-picture.outbound').getByRole('img').waitFor()
  expect(await page.locator('.thread .said').count()).toBe(0)
  await expectAccessible(page)
  expect([messageId.startsWith('msg_'), complaints]).toEqual([true, []])
})

test('after a 429 the text is sent again and arrives once', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url)
  const { page } = opened
  await choose(page, '429, try later')
  await page.getByRole('button', { name: 'Send the first text' }).click()
  await step(page, 'attempt 1 429').waitFor()
  await step(page, 'paused, Retry-After 2 s').waitFor()
  await step(page, 'attempt 2').waitFor()
  await bubble(page, 'Hello').waitFor()
  expect(gateway.phone(CONTACT).inbox).toHaveLength(1)
  // One send uses the fault up.
  await page.getByRole('radio', { name: 'goes well' }).and(page.locator(':checked')).waitFor()
})

test('after a 502 that came too late the text is found and not sent again', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url)
  const { page } = opened
  await choose(page, '502 after accepting')
  await page.getByRole('button', { name: 'Send the first text' }).click()
  await step(page, 'attempt 1 502').waitFor()
  await step(page, 'message store found').waitFor()
  await bubble(page, 'Hello').waitFor()
  expect(gateway.phone(CONTACT).inbox).toHaveLength(1)
})

test('a slow answer and an opted-out recipient show what became of the text', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url)
  const { page } = opened
  await choose(page, 'takes 3 s')
  await page.getByRole('button', { name: 'Send the first text' }).click()
  await step(page, 'attempt 1 runs').waitFor()
  await bubble(page, 'Hello').waitFor()
  // The call took the simulator's three seconds.
  await step(page, /attempt 1.*[3-9]\.\d s/).waitFor()
  await choose(page, 'recipient opted out')
  await page.getByLabel('Text from your app').fill('Anyone there?')
  await page.keyboard.press('Enter')
  await page.locator('.said-note', { hasText: 'not delivered' }).waitFor()
  await step(page, 'sms_delivery undelivered').waitFor()
  await page.locator('.said-note.bad', { hasText: 'not delivered: the recipient has opted out' }).waitFor()
  await page.keyboard.press('Escape')
  await page.goto(`${new URL(page.url()).origin}/console/#/messages`)
  await page.getByRole('heading', { name: '1 of 2 not delivered in 24 hours.' }).waitFor()
  await page.locator('.row', { hasText: 'Anyone there?' }).click()
  await page.getByRole('heading', { name: 'Not delivered', exact: true }).waitFor()
  await page.getByText('Sending it again will fail again, until the recipient texts START.').waitFor()
})

test('a webhook of a reply is a step with its answer and its time', async () => {
  await using gateway = await startTestGateway()
  await using receiver = startReceiver()
  const { appId } = await gateway.client.me()
  await gateway.client.apps.update(appId ?? '', { webhookUrl: `${receiver.url}/sms` })
  await using opened = await openConsole(gateway.url)
  const { page } = opened
  await page.getByLabel('Text as the contact').fill('C')
  await page.keyboard.press('Enter')
  await step(page, /webhook 200, signed\d+ ms/).click()
  await page.locator('.exchange', { hasText: `Answer of ${receiver.url}/sms` }).waitFor()
  await page.locator('.said-note', { hasText: /^your app answered 200 in / }).waitFor()
  await page.getByRole('button', { name: 'Close the step' }).click()
  expect(await page.locator('.exchange', { hasText: 'Answer of' }).count()).toBe(0)
})

test('what is typed while a text is on its way stays in the field', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url)
  const { page } = opened
  const field = page.getByLabel('Text from your app')
  const answer = Promise.withResolvers<void>()
  await page.route('**/v1/sms/send', async (route) => {
    const response = await route.fetch()
    await answer.promise
    await route.fulfill({ response })
  })
  const asked = page.waitForRequest('**/v1/sms/send')
  await page.getByRole('button', { name: 'Send the first text' }).click()
  await asked
  await field.fill('Another one')
  answer.resolve()
  await page.getByRole('button', { name: 'Send from your app', disabled: false }).waitFor()
  expect(await field.inputValue()).toBe('Another one')
  await field.press('Enter')
  await page.locator('.said', { hasText: 'Another one' }).first().waitFor()
  await step(page, 'POST /v1/sms/send 202').nth(1).waitFor()
  expect(await field.inputValue()).toBe('')
})

test('what the page measured stays while it is open, and after a reload it is not promised', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url)
  const { page } = opened
  await page.getByRole('button', { name: 'Send the first text' }).click()
  const measured = ['POST /v1/sms/send 202', 'sms_status sent', 'sms_delivery delivered']
  for (const text of measured) await step(page, text).waitFor()
  await page.getByLabel('Text from your app').fill('Another one')
  await page.keyboard.press('Enter')
  for (const text of measured) await step(page, text).nth(1).waitFor()
  await page.getByRole('link', { name: 'Messages' }).first().click()
  // It arrives while the phone is not shown.
  await gateway.client.sms.sendAndWait({ from: gateway.numbers[0] ?? '', to: CONTACT, body: 'From elsewhere' })
  await page.locator('.row', { hasText: 'From elsewhere' }).locator('.state', { hasText: 'Delivered' }).waitFor()
  await page.getByRole('link', { name: 'Phone' }).first().click()
  await page.locator('.group-head', { hasText: 'from your app, call not measured here' }).waitFor()
  await step(page, 'sms_status sent').nth(2).waitFor()
  expect(await step(page, 'POST /v1/sms/send 202').count()).toBe(2)
  await page.getByRole('button', { name: 'New contact' }).click()
  await page.getByText('No texts yet.').waitFor()
  await page.goBack()
  for (const text of measured) await step(page, text).nth(1).waitFor()
  await page.reload()
  await page.locator('.group-head', { hasText: 'from your app, call and events not measured here' }).first().waitFor()
  expect(await step(page, 'POST /v1/sms/send').count()).toBe(0)
})

test('the time at the left is when a step began, and the figure at the right how long it took alone', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url)
  const { page } = opened
  await choose(page, '502 after accepting')
  await page.getByRole('button', { name: 'Send the first text' }).click()
  const delivered = step(page, /^\S+delivered/)
  await delivered.waitFor()
  const { messages } = await gateway.client.sms.list({ direction: 'outbound' }).page(1)
  const { entries } = await gateway.client.sms.timeline(messages[0]?.messageId ?? '')
  const at = (type: string) => Date.parse(entries.find((entry) => entry.type === type)?.at ?? '')
  const attempt = entries.find((entry) => entry.type === 'attempt')
  const attemptEnd = at('attempt') + (attempt?.type === 'attempt' ? (attempt.durationMs ?? 0) : 0)
  expect(await beganAt(delivered)).toBe(at('sent'))
  expect(await tookMs(delivered)).toBeCloseTo(at('delivered') - at('sent'), -3)
  const wait = step(page, 'waits before it asks the message store')
  const lookup = step(page, 'message store found')
  // The attempt's time is stored as steady time, so two readings of it may differ by the rounding.
  expect(Math.abs((await beganAt(wait)) - attemptEnd)).toBeLessThanOrEqual(1)
  // What is shown is cut to tenths of a second.
  const between = (await beganAt(lookup)) - attemptEnd
  expect(between - (await tookMs(wait))).toBeLessThan(100)
  expect(await tookMs(wait)).toBeLessThanOrEqual(between)
})

test('a text to somebody who opted out never looks received', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url)
  const { page } = opened
  await choose(page, 'recipient opted out')
  await page.evaluate(`(() => {
    window.looks = []
    new MutationObserver(() => {
      for (const bubble of document.querySelectorAll('.said.outbound')) window.looks.push(bubble.className)
    }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true })
  })()`)
  await page.getByRole('button', { name: 'Send the first text' }).click()
  await page.locator('.said-note.bad', { hasText: 'not delivered: the recipient has opted out' }).waitFor()
  // The outline may have been too short to be drawn.
  expect(await page.evaluate<string[]>('window.looks')).not.toContain('said outbound')
  await gateway.client.optOuts.setPolicy('block')
  await page.getByLabel('Text from your app').fill('And now?')
  await page.keyboard.press('Enter')
  await page.locator('.said-note.bad', { hasText: '“And now?” not sent: recipient opted out' }).waitFor()
})

test('no step stops half under the heads, and no text touches a life line', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url, { width: 1024, height: 768 })
  const { page } = opened
  await page.getByRole('button', { name: 'Send the first text' }).click()
  await step(page, 'sms_delivery delivered').waitFor()
  await page.getByLabel('Text from your app').fill('Another one')
  await page.keyboard.press('Enter')
  await step(page, 'sms_delivery delivered').nth(1).waitFor()
  const cut = `(() => {
    const head = Math.max(...[...document.querySelectorAll('.stations, .group-head')]
      .map((each) => each.getBoundingClientRect().bottom).filter((bottom) => bottom < document.querySelector('.trace').getBoundingClientRect().top + 90))
    return [...document.querySelectorAll('.step:not(.group-head)')].map((each) => each.getBoundingClientRect())
      .filter(({ top, bottom }) => top < head - 1 && bottom > head + 1).length
  })()`
  expect(await page.locator('.trace').evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(0)
  expect(await page.evaluate<number>(cut)).toBe(0)
  await page.locator('.group-head', { hasText: 'Another one' }).waitFor()
  const ground = await page.evaluate<string>("getComputedStyle(document.querySelector('.hop > span')).backgroundColor")
  expect(ground).not.toBe('rgba(0, 0, 0, 0)')
})

test('the phone can be used by keyboard alone, and axe finds nothing', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url)
  const { page, complaints } = opened
  await page.getByRole('button', { name: 'Send the first text' }).waitFor()
  await expectAccessible(page)
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
  await page.getByRole('link', { name: 'Overview' }).first().focus()
  await page.evaluate('document.activeElement.blur()')
  await page.keyboard.press('Enter')
  await bubble(page, 'Hello').waitFor()
  await step(page, 'sms_status sent').focus()
  await page.keyboard.press('Enter')
  await page.locator('.exchange', { hasText: 'WebSocket event' }).waitFor()
  await expectAccessible(page)
  expect(complaints).toEqual([])
})

test('a new contact has a phone of its own', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url)
  const { page } = opened
  await page.getByRole('button', { name: 'Send the first text' }).click()
  await bubble(page, 'Hello').waitFor()
  await page.getByRole('button', { name: 'New contact' }).click()
  await page.getByText('No texts yet.').waitFor()
  await page.getByRole('button', { name: /^Contact/ }).click()
  await page.getByRole('menuitemradio', { name: '+1 555 555 0199' }).click()
  await bubble(page, 'Hello').waitFor()
})

const bubble = (page: Page, text: string) => page.locator('.said.outbound', { hasText: text })
const step = (page: Page, text: string | RegExp) => page.locator('.step', { hasText: text })
const choose = (page: Page, fault: string) => page.getByText(fault, { exact: true }).click()

const beganAt = async (line: Locator): Promise<number> =>
  Date.parse((await line.locator('time').getAttribute('title'))?.replace(' ', 'T').replace(' UTC', 'Z') ?? '')

/** The length that a step shows, in milliseconds. */
async function tookMs(line: Locator): Promise<number> {
  const [, amount, unit] = /^([\d.]+) (ms|s)$/.exec((await line.locator('.measure').textContent()) ?? '') ?? []
  return Number(amount) * (unit === 's' ? 1000 : 1)
}
