import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { Sgw, type SgwError } from 'sgw/client'

const { SGW_URL = 'http://127.0.0.1:3000', SGW_KEY = '' } = process.env
const sgw = new Sgw({ baseUrl: SGW_URL, apiKey: SGW_KEY })

/** The contacts that were asked for a size. Keep this where your other data is. */
const asked = new Set<string>()

function answerTo(contact: string, text: string): string {
  if (!/^(small|large)$/i.test(text.trim())) {
    asked.add(contact)
    return 'Which size, small or large?'
  }
  return asked.delete(contact) ? `One ${text.trim().toLowerCase()} pizza is on its way.` : 'Text PIZZA to order one.'
}

const events = sgw.events({ after: existsSync('cursor') ? readFileSync('cursor', 'utf8') : undefined })
for await (const event of events) {
  // A short code or a sender's name cannot be texted.
  if (event.type === 'sms_inbound' && event.from.startsWith('+')) {
    const message = { from: event.to, to: event.from, body: answerTo(event.from, event.body) }
    await sgw.sms.send(message, { idempotencyKey: `answer-${event.messageId}` }).catch((error: SgwError) => {
      // An event that comes again after a restart was answered before.
      if (error.status !== 409) throw error
    })
  }
  if (events.cursor !== undefined) writeFileSync('cursor', events.cursor)
}
