import { privacy } from '../state/settings.ts'

/**
 * A phone number in groups. The spaces are letter-spacing, so that copy and find see `+15035550142`. In privacy mode, the country code and the
 * last two digits stay visible.
 */
export function PhoneNumber({ value }: { value: string }) {
  if (!/^\+\d{5,}$/.test(value)) return <span class="number">{value}</span>
  const groups = groupsOf(value.slice(1))
  const digits = groups.flatMap((group) =>
    Array.from(group, (digit, index) => ({ digit, ends: index === group.length - 1 })),
  )
  const open = groups[0]?.length ?? 0
  return (
    <span class="number">
      +
      {digits.map(({ digit, ends }, index) => {
        const masked = index >= open && index < digits.length - 2 ? 'mask' : undefined
        return ends && index < digits.length - 1 ? <i class={masked}>{digit}</i> : <span class={masked}>{digit}</span>
      })}
    </span>
  )
}

/** The number as a person reads it, for titles and labels: `+1 503 555 0142`; in privacy mode `+1 ··· 42`. */
export function spokenNumber(value: string): string {
  if (!/^\+\d{5,}$/.test(value)) return value
  const groups = groupsOf(value.slice(1))
  return privacy.value === 'on' ? `+${groups[0] ?? ''} ··· ${value.slice(-2)}` : `+${groups.join(' ')}`
}

/** Country codes of two digits (ITU-T E.164); 1 and 7 have one digit, all others three. */
const TWO_DIGITS = /^(20|27|3[0-4]|36|39|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])/

/** `15035550142` → `1`, `503`, `555`, `0142`. */
function groupsOf(digits: string): string[] {
  const codeLength = /^[17]/.test(digits) ? 1 : TWO_DIGITS.test(digits) ? 2 : 3
  const rest = digits.slice(codeLength)
  return [digits.slice(0, codeLength), ...(rest.match(/\d{3}(?=\d{3})|\d{1,4}$|\d{3}/g) ?? [])]
}
