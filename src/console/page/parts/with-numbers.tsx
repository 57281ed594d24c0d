import { PhoneNumber } from './phone-number.tsx'

/** Shows the phone numbers of a sentence as numbers, so that privacy mode masks them. */
export const withNumbers = (sentence: string) =>
  sentence.split(/(\+\d{5,})/).map((part) => (part.startsWith('+') ? <PhoneNumber value={part} /> : part))
