import type { Fault } from '../../../src/simulator/faults.ts'

/** What happens to each of the gateway's calls after an answer. `own`: in RingCentral's error form. `another`: an HTML page. */
const TABLE = `
answer      | send            | media           | token       | code         | numbers     | make        | renew       | list        | delete      | back-fill   | lookup      | poll        | picture     | revoke
302 own     | fails           | fails           | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
302 another | pause           | pause           | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
307 own     | fails           | fails           | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
307 another | pause           | pause           | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
400 own     | fails           | fails           | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
400 another | pause           | pause           | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
401 own     | not connected   | not connected   | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
401 another | pause           | pause           | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
403 own     | fails           | fails           | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
403 another | pause           | pause           | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
404 own     | fails           | fails           | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
404 another | pause           | pause           | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
405 own     | fails           | fails           | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
405 another | pause           | pause           | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
407 own     | fails           | fails           | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
407 another | pause           | pause           | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
408 own     | lookup          | lookup          | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
408 another | lookup          | lookup          | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
413 own     | fails           | fails           | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
413 another | pause           | pause           | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
421 own     | fails           | fails           | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
421 another | pause           | pause           | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
425 own     | fails           | fails           | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
425 another | pause           | pause           | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
429 own     | a minute        | a minute        | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
429 another | a minute        | a minute        | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
500 own     | lookup          | lookup          | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
500 another | lookup          | lookup          | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
502 own     | lookup          | lookup          | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
502 another | lookup          | lookup          | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
503 own     | pause           | pause           | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
503 another | lookup          | lookup          | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
504 own     | lookup          | lookup          | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
504 another | lookup          | lookup          | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | 502         | gone here
200 own     | lookup          | lookup          | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | passed on   | gone here
200 another | lookup          | lookup          | tried again | a page, 502  | tried again | tried again | tried again | tried again | tried again | tried again | tried again | tried again | passed on   | gone here
`

/** An answer, as the table calls it. */
export interface Answer {
  name: string
  status: number
  fault: Extract<Fault, { kind: 'respond' }>
}

const PAGE = '<html><head><title>Request blocked</title></head><body><h1>Request blocked</h1></body></html>'
const MESSAGE = 'Parameter value is invalid.'
const OWN = { errorCode: 'CMN-101', message: MESSAGE, errors: [{ errorCode: 'CMN-101', message: MESSAGE }] }

function answerOf(name: string): Answer {
  const [status, form] = name.split(/ +/)
  const headers = { Location: 'https://elsewhere.example/', 'Retry-After': '', 'Content-Type': 'text/html' }
  const fault = { kind: 'respond', status: Number(status), body: form === 'own' ? OWN : PAGE, headers } as const
  return { name: `${status} ${form}`, status: fault.status, fault }
}

const cells = (line: string): string[] => line.split('|').map((cell) => cell.trim())
const [HEAD = '', ...LINES] = TABLE.trim().split('\n')

export const CALLS = cells(HEAD).slice(1)

/** The answers, and what happens to a call with each. */
export function column(call: string): { answers: Answer[]; expected: Record<string, string> } {
  const rows = LINES.map(cells).map((row) => [answerOf(row[0] ?? ''), row[CALLS.indexOf(call) + 1] ?? ''] as const)
  return {
    answers: rows.map(([answer]) => answer),
    expected: Object.fromEntries(rows.map(([answer, outcome]) => [answer.name, outcome])),
  }
}
