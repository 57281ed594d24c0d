import type { ExtensionHealth, NumberHealth } from '../../../client/client.ts'
import { FactSentence } from '../facts/fact-line.tsx'
import type { Fact } from '../facts/fact.ts'
import { hasLinks } from '../frame/panel.ts'
import { AuthorizeButton } from '../parts/authorize-button.tsx'
import { Ask } from '../parts/confirm.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { PhoneNumber } from '../parts/phone-number.tsx'
import { asApp, operator } from '../state/caller.ts'
import { count, now, rowTime } from '../state/clock.ts'
import { readAll } from '../state/keep-reading.ts'
import { ConnectJwt } from './connect-jwt.tsx'
import { extensionName, midSentenceName, subscriptionOf } from './numbers-facts.ts'
import { Thing, Time } from './thing.tsx'
import '../style/why.css'

interface ExtensionProps {
  extension: ExtensionHealth
  /** What is wrong with it, worst first. */
  facts: readonly Fact[]
}

/** One extension: its numbers, what is wrong, what to press, and its state. */
export function Extension({ extension, facts }: ExtensionProps) {
  const [worst] = facts
  const { windowUsed, windowLimit, pausedUntil, lastInboundAt } = extension
  const { word, at } = subscriptionOf(extension)
  return (
    <Thing
      id={extension.extensionId}
      name={extensionName(extension)}
      icon={worst?.icon ?? 'sent'}
      kind={worst?.kind ?? 'dim'}
      note={extension.name}
      state={stateText(extension, worst)}
      buttons={<Buttons extension={extension} isNeeded={worst?.rank === 'stopped'} />}
      facts={[
        ['Calls in 60 s', `${count(windowUsed)} of ${count(windowLimit)}`],
        ['Pause', pausedUntil === null ? 'none' : ['until ', <Time at={pausedUntil} />]],
        ['Subscription', [word, ' ', at !== null && <Time at={at} />], 'wide'],
        ['Last text received', <Time at={lastInboundAt} />],
        ['Authorized until', <AuthorizedUntil extension={extension} />],
      ]}
    >
      <NumbersOf extension={extension} />
      {facts.map((fact) => (
        <Trouble key={fact.key} fact={fact} extension={extension} />
      ))}
    </Thing>
  )
}

/** Those that send, each with what is special about it, and those that cannot. */
const NumbersOf = ({ extension }: Pick<ExtensionProps, 'extension'>) => (
  <p class="thing-numbers">
    {extension.phoneNumbers.length === 0 && <span class="dim">No number</span>}
    {extension.phoneNumbers.map((number) => (
      <OneNumber
        key={number}
        number={number}
        health={extension.numbers?.find(({ phoneNumber }) => phoneNumber === number)}
      />
    ))}
    {extension.cannotSend?.map(({ phoneNumber, reason }) => (
      <OneNumber key={phoneNumber} number={phoneNumber} reason={reason} />
    ))}
  </p>
)

function OneNumber({ number, health, reason }: { number: string; health?: NumberHealth | undefined; reason?: string }) {
  const { tier, dailyLimit = null } = health?.campaign ?? {}
  const notes = [
    health?.inbound === 'elsewhere' && 'texts to it go to Shared Inbox',
    // The campaign's, of all its numbers together.
    tier && (dailyLimit === null ? tier : `${tier}, ${count(dailyLimit)} a day`),
    reason !== undefined && `cannot send: ${reason}`,
  ]
  return (
    <span>
      <PhoneNumber value={number} />
      <CopyButton text={number} label="Copy the number" />
      {health?.canSendMedia === false && (
        <span class="dim small" title="RingCentral gives it no MmsSender; toll-free numbers never have it">
          no pictures
        </span>
      )}
      {notes.map((note) => note && <span class="dim small">{note}</span>)}
    </span>
  )
}

function stateText({ status }: ExtensionHealth, worst: Fact | undefined): string {
  if (status === 'revoked') return 'Revoked'
  if (status === 'refresh_failed') return 'Not authorized'
  if (worst === undefined) return 'Sends and receives'
  return worst.key.endsWith(' pause') ? 'Paused' : 'Needs attention'
}

/** Why and since when, and what the gateway or a person does about it. The heading of the row names the extension. */
const Trouble = ({ fact, extension }: { fact: Fact; extension: ExtensionHealth }) => (
  <div class={fact.kind === 'bad' ? 'why' : 'why warn-edge'}>
    <p>
      <b>
        {fact.key === extension.extensionId && extension.reason !== null ? (
          reasonText(extension, extension.reason)
        ) : (
          <FactSentence fact={fact} />
        )}
        .
      </b>
      {fact.since !== null && ` Since ${rowTime(fact.since, now.value)}.`}
    </p>
    <p>{extension.status === 'revoked' && fact.rank === 'stopped' ? revokedAdvice(extension) : fact.advice}</p>
  </div>
)

const reasonText = ({ status, connectedBy }: ExtensionHealth, reason: string): string =>
  status === 'revoked'
    ? `RingCentral no longer accepts its ${connectedBy === 'jwt' ? 'JWT' : 'authorization'}`
    : reason.replace(/\.$/, '')

const revokedAdvice = ({ connectedBy }: ExtensionHealth): string =>
  `It cannot send or receive: its messages fail until ${connectedBy === 'jwt' ? 'it is connected with another JWT' : 'its owner authorizes it again'}.`

function AuthorizedUntil({ extension }: { extension: ExtensionHealth }) {
  const { status, connectedBy, refreshExpiresAt, jwtExpiresAt = null, sessionExpiresAt = null } = extension
  if (status === 'revoked') return <>–</>
  if (connectedBy === 'jwt' && jwtExpiresAt === null) return <>no end</>
  return <Time at={jwtExpiresAt ?? sessionExpiresAt ?? refreshExpiresAt} />
}

function Buttons({ extension, isNeeded }: { extension: ExtensionHealth; isNeeded: boolean }) {
  const className = isNeeded ? 'button primary' : 'button quiet'
  const isByJwt = extension.connectedBy === 'jwt'
  const disconnect = async (): Promise<void> => {
    await asApp().connection.disconnectExtension(extension.extensionId)
    readAll()
  }
  return (
    <>
      {(isByJwt || !hasLinks()) && operator.value !== null ? (
        <ConnectJwt text={`Connect with ${isByJwt ? 'another' : 'a'} JWT`} class={className} />
      ) : (
        <AuthorizeButton extension={midSentenceName(extension)} class={className} />
      )}
      <Ask title={`Disconnect ${extensionName(extension)}`} button="Disconnect" isDanger run={disconnect}>
        <DisconnectText extension={extension} />
      </Ask>
    </>
  )
}

const DisconnectText = ({ extension: { phoneNumbers, lastInboundAt } }: { extension: ExtensionHealth }) => (
  <>
    {phoneNumbers.map((number, index) => [index > 0 ? ', ' : '', <PhoneNumber value={number} />])}
    {phoneNumbers.length === 0 ? 'It' : ''} can then neither send nor receive. Messages that wait fail, scheduled ones
    at their time. {lastInboundAt !== null && `The last text came at ${rowTime(lastInboundAt, now.peek())}. `}
    Its owner can authorize it again later.
  </>
)
