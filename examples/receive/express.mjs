import { createHmac, timingSafeEqual } from 'node:crypto'
import express from 'express'

const secret = process.env.SGW_WEBHOOK_SECRET
const app = express()

app.post('/sms', express.raw({ type: () => true }), (request, response) => {
  if (!isFromGateway(request.headers, request.body)) return response.sendStatus(401)
  const event = JSON.parse(request.body)
  console.log(event.type, event.from, event.body)
  response.sendStatus(204)
})

function isFromGateway(headers, body) {
  const timestamp = headers['x-gateway-timestamp'] ?? ''
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300
  const hmac = createHmac('sha256', secret).update(`${timestamp}.`).update(body)
  const expected = Buffer.from(`sha256=${hmac.digest('hex')}`)
  const given = Buffer.from(headers['x-gateway-signature'] ?? '')
  return isFresh && given.length === expected.length && timingSafeEqual(given, expected)
}

app.listen(Number(process.env.PORT ?? 8080), '127.0.0.1')
