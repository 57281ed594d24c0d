import { Icon } from '../parts/icon.tsx'
import type { Segment, Station, Wire } from './wire.ts'
import './wire.css'

/** The path of a text as a map: the lane to the phones above the lane back; on a phone, from top to bottom. */
export const WireMap = ({ wire: { stations, out, back } }: { wire: Wire }) => (
  <section class="wire" aria-label="The path of a text">
    {stations.map((station, index) => (
      <>
        <StationBox {...station} />
        {out[index] !== undefined && back[index] !== undefined && (
          <div class="wire-lanes">
            <Line direction="out" {...out[index]} />
            <Line direction="back" {...back[index]} />
          </div>
        )}
      </>
    ))}
  </section>
)

const StationBox = ({ name, lines }: Station) => (
  <div class="stack station">
    <strong>{name}</strong>
    {lines.map(({ text, kind }) => (
      <span class={`small dim ${kind}`}>{text}</span>
    ))}
  </div>
)

const Line = ({ direction, figure, word, kind, icon }: Segment & { direction: 'out' | 'back' }) => (
  <div class={`small dim wire-line ${direction} ${kind} ${kind}-line`}>
    <span>
      <b>{figure}</b> {word}
    </span>
    {icon !== null && (
      <span class="wire-break">
        <Icon name={icon} />
      </span>
    )}
  </div>
)
