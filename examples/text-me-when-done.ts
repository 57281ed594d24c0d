import { Sgw, type SgwError } from 'sgw/client'

// Runs a command and texts you how it ended. Beside a gateway that `sgw start` has started in this folder:
//   SGW_KEY=$(cat data/development-api-key) SGW_TO=+15555550199 bun text-me-when-done.ts make test
const { SGW_URL = 'http://127.0.0.1:3000', SGW_KEY = '', SGW_FROM = '', SGW_TO = '' } = process.env
const command = process.argv.slice(2)
if (command.length === 0 || SGW_KEY === '' || !/^\+[1-9]\d{8,14}$/.test(SGW_TO))
  stop('Usage: SGW_KEY=sgw_… SGW_TO=+15555550199 bun text-me-when-done.ts COMMAND …')

// Reports a wrong key, address or number before the work, not after it.
const sgw = new Sgw({ baseUrl: SGW_URL, apiKey: SGW_KEY })
const extensions = await sgw.connection.extensions().catch(({ message }: SgwError) => stop(message))
const numbers = extensions.flatMap(({ phoneNumbers }) => phoneNumbers)
const from = numbers.find((number) => SGW_FROM === '' || number === SGW_FROM)
if (from === undefined)
  stop(`The gateway cannot send from ${SGW_FROM}: it has ${numbers.join(', ') || 'no number yet'}`)

const startedAt = performance.now()
const code = await Bun.spawn(command, { stdio: ['inherit', 'inherit', 'inherit'] }).exited

const outcome = code === 0 ? 'is done' : `failed with ${code}`
const seconds = Math.round((performance.now() - startedAt) / 1000)
const body = `${command.join(' ').slice(0, 100)} ${outcome} after ${seconds} s`
try {
  const { status, error } = await sgw.sms.sendAndWait({ from, to: SGW_TO, body })
  process.stderr.write(status === 'sent' ? `Texted ${SGW_TO}: ${body}\n` : `No SMS was sent: ${error}\n`)
} catch (error) {
  process.stderr.write(`No SMS so far: ${(error as SgwError).message}\n`)
}
process.exitCode = code

function stop(problem: string): never {
  process.stderr.write(`${problem}\n`)
  process.exit(2)
}
