import { Sgw } from 'sgw/client'

// Runs a command and texts you when it is done:
//   SGW_KEY=sgw_… SGW_TO=+15555550199 bun examples/text-me-when-done.ts make test
const { SGW_URL = 'http://127.0.0.1:3000', SGW_KEY = '', SGW_FROM = '+15555550100', SGW_TO = '' } = process.env
const command = process.argv.slice(2)
const startedAt = performance.now()

const job = Bun.spawn(command, { stdio: ['inherit', 'inherit', 'inherit'] })
const code = await job.exited

const outcome = code === 0 ? 'is done' : `failed with ${code}`
const body = `${command.join(' ')} ${outcome} after ${Math.round((performance.now() - startedAt) / 1000)} s`
const sgw = new Sgw({ baseUrl: SGW_URL, apiKey: SGW_KEY })
const { status, error } = await sgw.sms.sendAndWait({ from: SGW_FROM, to: SGW_TO, body })
if (status === 'failed') process.stderr.write(`No SMS was sent: ${error}\n`)
process.exitCode = code
