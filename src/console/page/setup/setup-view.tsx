import { useEffect } from 'preact/hooks'
import { onViewKey } from '../frame/keys.ts'
import { SETUP_SECTIONS } from '../frame/views.ts'
import { address, addressOf } from '../state/address.ts'
import { stepTo } from '../parts/step-to.ts'
import { operator } from '../state/caller.ts'
import { Apps } from './apps.tsx'
import { NewSecret } from './new-secret.tsx'
import { Numbers } from './numbers.tsx'
import { Tenants } from './tenants.tsx'
import './setup.css'

const NAMES = { numbers: 'Numbers', apps: 'Apps', tenants: 'Tenants' } as const

/** What is rarely changed: the numbers, the apps and, for an operator, the tenants. */
export default function SetupView() {
  const { view } = address.value
  const section = SETUP_SECTIONS.find((name) => name === view) ?? 'numbers'
  useEffect(() => void (document.title = `${NAMES[section]} – sgw`), [section])
  useEffect(() => onViewKey((key) => stepTo(key, '.thing')), [])
  return (
    <div class="scroller setup">
      <nav class="segmented" aria-label="Setup">
        {SETUP_SECTIONS.filter((name) => name !== 'tenants' || operator.value !== null).map((name) => (
          <a key={name} href={addressOf(name)} aria-current={name === section ? 'page' : undefined}>
            {NAMES[name]}
          </a>
        ))}
      </nav>
      {section === 'numbers' && <Numbers />}
      {section === 'apps' && <Apps />}
      {section === 'tenants' && <Tenants />}
      <NewSecret />
    </div>
  )
}
