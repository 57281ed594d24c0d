import type { ComponentChildren } from 'preact'
import './copyable.css'
import { me } from '../state/caller.ts'
import { hasLinks } from '../frame/panel.ts'
import { CopyButton } from './copy.tsx'
import { InviteButton } from './authorize-button.tsx'

interface EmptyProps {
  /** If no other heading says it. */
  title?: string | undefined
  text: string
  /** The command that fills it; null if it cannot be known yet. */
  command: string | null
  children?: ComponentChildren
}

/** An empty view: what will be here, and the button and command that fill it. */
export const Empty = ({ title, text, command, children }: EmptyProps) => (
  <div class="stack empty">
    {title !== undefined && <h1>{title}</h1>}
    <p class="dim">{text}</p>
    {children}
    {command !== null && (
      <div class="line copyable">
        <pre>
          <Words of={command} />
        </pre>
        <CopyButton text={command} label="Copy the command" />
      </div>
    )}
  </div>
)

/** A command breaks between its words. */
const Words = ({ of }: { of: string }) =>
  of.split(/(\s+)/).map((part) => (part.trim() === '' ? part : <span class="unbroken">{part}</span>))

/** In place of everything that needs a number while the tenant has none. A heading elsewhere has the button. */
export const NoNumber = ({ title }: { title?: string }) => (
  <Empty
    title={title}
    text={`Texts need a phone number. ${hasLinks() ? 'The owner of a RingCentral extension connects it by an invite link.' : 'A JWT connects the RingCentral extension of its user.'}`}
    command={
      hasLinks()
        ? `sgw extensions invite --app ${me.value?.appId ?? 'APP'}`
        : `sgw extensions connect-jwt --tenant ${me.value?.tenantId ?? 'TENANT'} --jwt-file FILE`
    }
  >
    {title !== undefined && <InviteButton />}
  </Empty>
)
