import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import { codeOf } from '../core/error-code.ts'
import { writeExactJson } from '../core/exact-json.ts'
import { silentLog } from '../core/log.ts'
import { printable } from '../core/printable.ts'
import { EXIT, StartError } from '../core/start-error.ts'
import { openDataFolder, sizeOf, socketPath } from '../db/data-folder.ts'
import { ownerOf, thisUser } from '../db/file-access.ts'
import { type CliContext, CliError, type OperatorRequest, requireSettings } from './context.ts'
import { hintOf } from './hints.ts'
import { adviceFor } from './own-address.ts'
import { withProgress } from './progress.ts'

const Refusal = z.object({ error: z.string() })

/** How long to wait for a server that is starting or stopping, or for another command, that holds the database. */
const LOCKED_WAIT_MS = 10_000
const LOCKED_PAUSE_MS = 100
/** How long to wait for a server that is creating its database. */
const MISSING_WAIT_MS = 1000

/** Sends a request to the running server. If none runs, opens the database and answers it there, unless it needs a server. */
export const ask = (context: CliContext, request: OperatorRequest): Promise<unknown> =>
  withProgress(context, answerTo(context, request))

async function answerTo(context: CliContext, request: OperatorRequest): Promise<unknown> {
  const startedAt = performance.now()
  for (;;) {
    const response =
      (await askServer(context, request)) ?? (await askFile(context, request, performance.now() - startedAt))
    if (response !== null) return resultOf(response, (error) => adviceFor(error, context.config, request.body))
    await Bun.sleep(LOCKED_PAUSE_MS)
  }
}

/** Sends a request to the running server. Null if no server listens. */
export async function askServer(context: CliContext, request: OperatorRequest): Promise<Response | null> {
  const { path } = context.config.database
  if (path === null) return null
  let socket = `${resolve(path)}.sock`
  try {
    socket = socketPath(path)
    const response = await fetch(httpRequest(request), { unix: socket })
    if (context.problems.length > 0) note(context, `${BAD_FOR_START} ${context.problems.join('; ')}`)
    return response
  } catch (error) {
    const code = codeOf(error) ?? ''
    if (NO_SERVER_CODES.includes(code)) return null
    if (code === 'EACCES') throw new CliError(foreignSocket(socket))
    throw new CliError(`The server did not answer (${code || 'unknown error'}): is it stopping? Try again`)
  }
}

const BAD_FOR_START = "The server is running, but would not start again with this command's environment:"

/** Whose gateway it is, if this user may not command it. */
function foreignSocket(socket: string): string {
  const [me, { found, owner }] = [thisUser(), ownerOf(socket)]
  if (owner === me) return `${found} is not accessible even to ${me}, its owner: chmod u+rwX ${found}`
  const leftOver = found === socket ? `. If ${owner} is not running a gateway, the file is left over: remove it` : ''
  return `${found} belongs to ${owner}, who runs this gateway, and you are ${me}: run this as ${owner} (sudo -u ${owner} sgw …)${leftOver}`
}

const NO_SERVER_CODES = ['ENOENT', 'ECONNREFUSED', 'FailedToOpenSocket', 'ConnectionRefused']

function httpRequest({ method, path, body, file, appId, idempotencyKey }: OperatorRequest): Request {
  const headers = new Headers(appId === undefined ? {} : { 'sgw-app': appId })
  if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey)
  if (file !== undefined) headers.set('content-type', file.type)
  if (file !== undefined) return new Request(`http://localhost${path}`, { method, headers, body: file })
  if (body === undefined) return new Request(`http://localhost${path}`, { method, headers })
  const text = writeExactJson(body)
  // Without a server nothing else adds this header, and a body without it is ignored.
  headers.set('content-length', String(Buffer.byteLength(text)))
  return new Request(`http://localhost${path}`, { method, headers, body: text })
}

/** The server refused a request. */
export class Refused extends CliError {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message)
  }
}

/** The JSON of an answer. Errors: `Refused`. */
export async function resultOf(response: Response, advice = hintOf): Promise<unknown> {
  const answer: unknown = await response.json().catch(() => null)
  if (response.ok) return answer
  const { error } = Refusal.catch({ error: `The server answered ${response.status}` }).parse(answer)
  throw new Refused(printable(`${error}${advice(error)}`), response.status)
}

/**
 * Answers the request on the database file. Null means: try again, because another process holds the database or may be creating it. Only this
 * function loads the gateway's modules.
 */
async function askFile(context: CliContext, request: OperatorRequest, waitedMs: number): Promise<Response | null> {
  const { needs = 'database' } = request
  if (needs === 'server') throw noServer()
  requireSettings(context)
  // Anything that a command writes into the file would be lost: the next holder starts from the object storage.
  if (context.config.standby) throw withStandby()
  const [{ createLocalServer }, { openGateway }, { asStartError }] = await Promise.all([
    import('../server/app.ts'),
    import('../server/open-gateway.ts'),
    import('../server/start-failure.ts'),
  ])
  const path = resolve(context.config.database.path ?? '')
  const existed = exists(path)
  await using stack = new AsyncDisposableStack()
  try {
    if (needs !== 'nothing' && !(await existsOrIsLocked(path))) {
      if (waitedMs < MISSING_WAIT_MS) return null
      throw new CliError(`There is no database at ${path}: nothing was done. ${MISSING_DATABASE}`)
    }
    const gateway = await openGateway({ config: context.config, log: silentLog, lockWaitMs: 0 }, stack)
    const response = await createLocalServer(gateway).handle(httpRequest(request))
    if (response.ok || !existed)
      note(context, existed ? noteOn(request) : `There was no database at ${path}: an empty one was created`)
    return response
  } catch (thrown) {
    const error = await asStartError(thrown, context.config)
    if (!(error instanceof StartError)) throw error
    if (error.exitCode === EXIT.locked && waitedMs < LOCKED_WAIT_MS) return null
    throw new CliError(error.message)
  }
}

/** Whether there is a database. An empty file counts as a missing one, as it does for a restore. */
const exists = (path: string): boolean => sizeOf(path) > 0

/** The same. Throws a `StartError` if another process, such as a server that is creating it, holds the lock of a missing database. */
async function existsOrIsLocked(path: string): Promise<boolean> {
  // Without a lock file nobody holds the lock, and a command leaves no lock file behind.
  if (!exists(path) && existsSync(`${path}.lock`)) (await openDataFolder(path, 0)).release()
  return exists(path)
}

/** What to do about a missing database. */
export const MISSING_DATABASE =
  'Run this in the folder of the server, or with its DATABASE_URL; the first start (sgw start) creates one'

const noted = new WeakMap<CliContext, string>()

/** Prints a note, but not twice for a command with several requests. */
function note(context: CliContext, text: string): void {
  if (text !== '' && noted.get(context) !== text) context.stderr(`${text}\n`)
  noted.set(context, text)
}

/** Says what differs because no server is running. */
function noteOn({ path }: OperatorRequest): string {
  const different = NOTES.find(([pattern]) => pattern.test(path))?.[1]
  return different === undefined ? '' : `No server answers: ${different}`
}

const NOTES: readonly [path: RegExp, note: string][] = [
  [/^\/v1\/operator\/status$/, 'these figures are from its database'],
  [/^\/v1\/webhook-deliveries\/.*(redeliver|recover)$/, 'the attempts are made when a server starts'],
  [/^\/v1\/(operator|rc)\/links$/, 'start one (sgw start) before you open the link'],
]

const withStandby = (): CliError =>
  new CliError(
    'STANDBY is on and no server answers: start one (sgw start), because the database in the object storage is the one that counts, not the local file',
    EXIT.noServer,
  )

export const noServer = (): CliError =>
  new CliError(
    'No server answers: run this in the folder of the server or with its DATABASE_URL, or start one (sgw start, or bun run start)',
    EXIT.noServer,
  )
