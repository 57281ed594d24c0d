import { Sgw } from 'sgw/client'
import { createApp } from './app.ts'
import { Appointments } from './appointments.ts'
import { Reminders } from './reminders.ts'

const { SGW_URL = 'http://127.0.0.1:3000', SGW_KEY, SGW_FROM, SGW_WEBHOOK_SECRET, PORT = '8080' } = process.env
if (SGW_KEY === undefined || SGW_FROM === undefined || SGW_WEBHOOK_SECRET === undefined)
  throw new Error('Set SGW_KEY, SGW_FROM (one of your numbers) and SGW_WEBHOOK_SECRET')

const appointments = new Appointments('appointments.db')
const sgw = new Sgw({ baseUrl: SGW_URL, apiKey: SGW_KEY })
const reminders = new Reminders({ sgw, appointments, from: SGW_FROM })
await reminders.prepare()
createApp({ appointments, reminders, webhookSecret: SGW_WEBHOOK_SECRET }).listen(Number(PORT))
process.stdout.write(`Listening on http://127.0.0.1:${PORT}\n`)

const stopping = new AbortController()
process.once('SIGINT', () => stopping.abort())
process.once('SIGTERM', () => stopping.abort())
await reminders.follow(stopping.signal)
process.exit(0)
