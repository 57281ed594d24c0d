import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestGateway, startTestGateway } from 'sgw/testing'
import { createApp } from '../src/app.ts'
import { type Appointment, Appointments } from '../src/appointments.ts'
import { Reminders } from '../src/reminders.ts'

const PATIENT = '+15555550142'
const HOUR_MS = 3_600_000

let gateway: TestGateway
let folder: string

beforeEach(async () => {
  gateway = await startTestGateway()
  folder = mkdtempSync(join(tmpdir(), 'reminder-'))
})

afterEach(async () => {
  await gateway.stop()
  rmSync(folder, { recursive: true })
})

interface RunningApp extends AsyncDisposable {
  url: string
  book(inHours: number): Promise<Appointment>
  /** Waits until the appointment has this status. */
  hasStatus(id: string, status: string): Promise<void>
}

/** Starts the app as `main.ts` does. Several starts in a test share the file, as across a restart. */
async function startApp(webhookSecret = 'whsec_AAAA'): Promise<RunningApp> {
  const appointments = new Appointments(join(folder, 'appointments.db'))
  const reminders = new Reminders({ sgw: gateway.client, appointments, from: gateway.numbers[0] ?? '' })
  await reminders.prepare()
  const app = createApp({ appointments, reminders, webhookSecret }).listen({ port: 0, hostname: '127.0.0.1' })
  const stopping = new AbortController()
  const followed = reminders.follow(stopping.signal)
  const url = `http://127.0.0.1:${app.server?.port}`
  return {
    url,
    async book(inHours) {
      const at = new Date(Date.now() + inHours * HOUR_MS).toISOString()
      const response = await fetch(`${url}/appointments`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ phone: PATIENT, at }),
      })
      expect(response.status).toBe(201)
      return (await response.json()) as Appointment
    },
    async hasStatus(id, status) {
      while (((await (await fetch(`${url}/appointments/${id}`)).json()) as Appointment).status !== status)
        await Bun.sleep(5)
    },
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await followed
      await app.stop(true)
      appointments.close()
    },
  }
}

test('a patient is reminded a day ahead, and confirms', async () => {
  await using app = await startApp()
  const patient = gateway.phone(PATIENT)
  const { id } = await app.book(48)
  await gateway.advance('23h')
  expect(patient.inbox).toEqual([])
  await gateway.advance('1h')
  await patient.waitFor('Your appointment is on')
  await app.hasStatus(id, 'reminded')
  await patient.reply('C')
  await patient.waitFor('Thank you')
  await app.hasStatus(id, 'confirmed')
})

test('an answer confirms one appointment, and other answers confirm none', async () => {
  await using app = await startApp()
  const patient = gateway.phone(PATIENT)
  const [first, second] = [await app.book(23), await app.book(24)]
  await patient.waitFor(() => patient.inbox.length === 2)
  await patient.reply('Can I bring my dog?')
  await patient.reply(' c. ')
  await app.hasStatus(first.id, 'confirmed')
  await app.hasStatus(second.id, 'reminded')
})

test('after STOP no reminder goes out, until START', async () => {
  await using app = await startApp()
  const patient = gateway.phone(PATIENT)
  const [first, second] = [await app.book(25), await app.book(26)]
  await patient.reply('STOP')
  await app.hasStatus(second.id, 'stopped')
  await gateway.advance('1h')
  await app.hasStatus(first.id, 'stopped')
  expect(patient.inbox).toEqual([])
  await patient.reply('START')
  await gateway.advance('1h')
  await patient.waitFor('Your appointment')
  await app.hasStatus(second.id, 'reminded')
  expect(patient.inbox).toHaveLength(1)
})

test('what happens while the app is down is handled after its restart', async () => {
  const patient = gateway.phone(PATIENT)
  const { id } = await (async () => {
    await using app = await startApp()
    const booked = await app.book(24)
    await app.hasStatus(booked.id, 'reminded')
    return booked
  })()
  await patient.reply('C')
  await using app = await startApp()
  await app.hasStatus(id, 'confirmed')
  await patient.waitFor('Thank you')
})

test('a provider that fails delays the reminder, and does not repeat it', async () => {
  await using app = await startApp()
  gateway.provider.next('5xx-after')
  const { id } = await app.book(24)
  await app.hasStatus(id, 'reminded')
  expect(gateway.phone(PATIENT).inbox).toHaveLength(1)
})

test('the webhook accepts what the gateway has signed, and nothing else', async () => {
  const { appId } = await gateway.client.me()
  const { webhookSecret } = await gateway.client.apps.rotateWebhookSecret(appId ?? '')
  await using app = await startApp(webhookSecret)
  await gateway.client.apps.update(appId ?? '', { webhookUrl: `${app.url}/webhook` })
  const [first, second] = [await app.book(23), await app.book(24)]
  for (const { id } of [first, second]) await app.hasStatus(id, 'reminded')
  const forged = JSON.stringify({ type: 'sms_inbound', messageId: 'msg_1', from: PATIENT, to: PATIENT, body: 'C' })
  expect((await fetch(`${app.url}/webhook`, { method: 'POST', body: forged })).status).toBe(401)
  await app.hasStatus(first.id, 'reminded')
  await gateway.phone(PATIENT).reply('C')
  const { page } = gateway.client.deliveries.list()
  while ((await page(1)).attempts.length === 0) await Bun.sleep(5)
  expect((await page(1)).attempts).toMatchObject([{ outcome: 'success', statusCode: 200 }])
  await app.hasStatus(first.id, 'confirmed')
  // The answer came twice, by webhook and as an event.
  await app.hasStatus(second.id, 'reminded')
  expect(gateway.phone(PATIENT).inbox.filter(({ text }) => text.startsWith('Thank you'))).toHaveLength(1)
})
