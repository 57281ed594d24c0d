import { expect, test } from 'bun:test'
import { sgwIn } from '../support/cli.ts'
import { openOperatorSocket } from '../support/operator.ts'
import type { SimulatorControl } from '../../src/simulator/simulator.ts'
import { FROM, createWorld } from '../support/world.ts'

const QUEUE = '+15555550150'

/** A gateway with its simulator, and a function that runs `sgw simulate` beside it. */
async function startProvider({ simulated = true } = {}) {
  const world = await createWorld({ connect: false, work: false })
  world.gateway.simulator = simulated ? world.control : null
  const operator = openOperatorSocket(world)
  return {
    control: world.control,
    url: world.simulator?.url ?? '',
    extension: world.control.extensions()[0]?.extensionId ?? '',
    simulate: (...words: string[]) => sgwIn(world.folder, ['simulate', ...words]),
    async [Symbol.asyncDispose]() {
      await operator.stop()
      await world[Symbol.asyncDispose]()
    },
  }
}

test.concurrent('simulate configure sets what its options name, and prints all settings', async () => {
  await using provider = await startProvider()
  const before = provider.control.configure({})
  const options = [
    ['--number-forms', 'digits,american'],
    ['--shared-owner', 'ignored'],
    ['--queue-events', 'off'],
    ['--message-threads', 'on'],
    ['--read-threads', 'off'],
    ['--session-seconds', '7200'],
    ['--session-idle-seconds', '600'],
    ['--grants', 'jwt'],
    ['--issue-refresh-tokens', 'off'],
  ].flat()
  const result = await provider.simulate('configure', ...options, '--json')
  const after: ReturnType<SimulatorControl['configure']> = {
    ...before,
    numberForms: ['digits', 'american'],
    sharedOwner: 'ignored',
    queueEvents: false,
    messageThreads: true,
    readThreads: false,
    sessionSeconds: 7200,
    sessionIdleSeconds: 600,
    grants: ['jwt'],
    issueRefreshTokens: false,
  }
  expect(result).toEqual({ code: 0, stdout: `${JSON.stringify(after)}\n`, stderr: '' })
  await provider.simulate('configure', '--session-seconds', 'none')
  expect(provider.control.configure({})).toEqual({ ...after, sessionSeconds: null })
})

test.concurrent('simulate adds queues and numbers, removes them, and sets the status of an extension', async () => {
  await using provider = await startProvider()
  const { control, extension, simulate } = provider
  const queue = await simulate('add-queue', '--number', QUEUE, '--recipient', extension, '--name', 'Desk', '--json')
  const { extensionId } = JSON.parse(queue.stdout) as { extensionId: string }
  expect(control.extensions().map((one) => [one.extensionId, one.name, one.type])).toContainEqual([
    extensionId,
    'Desk',
    'Department',
  ])
  const of = ['--extension', extension, '--number']
  const more = ['--owner', extensionId, '--label', 'New', '--primary', '--status', 'Pending', '--campaign', 'none']
  const added = await simulate('add-number', ...of, '+15555550151', ...more, '--json')
  expect({ code: added.code, stderr: added.stderr }).toEqual({ code: 0, stderr: '' })
  expect((await simulate('remove-number', ...of, FROM, '--json')).code).toBe(0)
  const disabled = await simulate('extension-status', extension, 'Disabled', '--json')
  const view = control.extensions().find((one) => one.extensionId === extension)
  expect(JSON.parse(disabled.stdout)).toEqual(JSON.parse(JSON.stringify(view)))
  expect(view?.status).toBe('Disabled')
  const numbers = view?.numbers.map(({ phoneNumber }) => phoneNumber)
  expect(numbers).toEqual(expect.arrayContaining([QUEUE, '+15555550151']))
  expect(numbers).not.toContain(FROM)
})

test.concurrent('simulate makes and deletes JWTs, and plays faults on sockets', async () => {
  await using provider = await startProvider()
  const { control, extension, simulate } = provider
  const made = await simulate(
    'add-jwt',
    '--extension',
    extension,
    '--client-id',
    'client',
    '--expires-in',
    '60',
    '--json',
  )
  const { jwt } = JSON.parse(made.stdout) as { jwt: string }
  expect((await simulate('remove-jwt', jwt, '--json')).stdout).toBe('{"removed":1}\n')
  expect(() => control.removeJwt({ jwt })).toThrow('Unknown JWT')
  const faulted = await simulate('sockets', 'ticket-503', '--times', '2', '--json')
  expect(faulted).toEqual({ code: 0, stdout: '{"sockets":0}\n', stderr: '' })
  expect((await simulate('sockets', 'delay', '--delay', '50', '--extension', extension)).code).toBe(0)
  const ask = async () => (await fetch(`${provider.url}/restapi/oauth/wstoken`, { method: 'POST' })).status
  expect([await ask(), await ask(), await ask()]).toEqual([503, 503, 401])
})

test.concurrent('simulate opts a contact out, as RingCentral does', async () => {
  await using provider = await startProvider()
  const { control, simulate } = provider
  const [from = ''] = control.extensions()[0]?.numbers.map(({ phoneNumber }) => phoneNumber) ?? []
  expect((await simulate('configure', '--consents', 'refused', '--json')).stdout).toContain('"consents":"refused"')
  const added = await simulate('add-consent', '+15555550199', '--from', from, '--coverage', 'Account', '--json')
  expect(JSON.parse(added.stdout)).toMatchObject({ from, to: '+15555550199', optStatus: 'OptOut', coverage: 'Account' })
  expect((await simulate('add-consent', '+15555550199')).stderr).toContain('Cannot use from')
})

test.concurrent('what the simulator cannot use is named, and nothing changes', async () => {
  await using provider = await startProvider()
  const { control, extension, simulate } = provider
  const before = [control.configure({}), control.extensions()]
  const of = ['--extension', extension, '--number']
  const results = await Promise.all([
    simulate('configure', '--number-forms', 'roman'),
    simulate('add-queue', '--number', '5550150', '--recipient', extension),
    simulate('add-queue', '--number', QUEUE, '--recipient', '1'),
    simulate('add-number', ...of, FROM),
    simulate('remove-number', ...of, QUEUE),
    simulate('extension-status', extension, 'disabled'),
    simulate('remove-jwt', 'x.y.z'),
    simulate('sockets', 'explode'),
    simulate('configure', '--queue-events', 'maybe'),
    simulate('configure', '--session-seconds', '0'),
    simulate('configure', '--shared-owner', 'hidden'),
    simulate('add-number', '--number', QUEUE),
  ])
  const expected: [code: number, said: string][] = [
    [1, 'The simulator refuses: Cannot use numberForms.0: '],
    [1, 'The simulator refuses: Cannot use numbers.0.phoneNumber: Write the number with +'],
    [1, 'The simulator refuses: Unknown extension 1'],
    [1, `The simulator refuses: Extension ${extension} has ${FROM} already: remove it first`],
    [1, `The simulator refuses: Extension ${extension} has no number ${QUEUE}`],
    [1, 'The simulator refuses: Cannot use status: '],
    [1, 'The simulator refuses: Unknown JWT'],
    [1, 'The simulator refuses: Cannot use kind: '],
    [2, 'Use on or off.'],
    [2, 'Give a whole number, 1 or more.'],
    [2, 'Allowed choices are shown, refused, ignored.'],
    [2, "required option '--extension <extension>' not specified"],
  ]
  for (const [at, [code, said]] of expected.entries())
    expect(results[at]).toEqual({ code, stdout: '', stderr: expect.stringContaining(said) })
  expect([control.configure({}), control.extensions()]).toEqual(before)
})

test.concurrent('a server that uses RingCentral itself changes nothing', async () => {
  await using provider = await startProvider({ simulated: false })
  const { code, stderr } = await provider.simulate('configure', '--queue-events', 'off')
  expect([code, stderr]).toEqual([1, expect.stringContaining('only with the built-in simulator')])
})
