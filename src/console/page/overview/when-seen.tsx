import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** Draws something, and so reads it from the gateway, only when it becomes visible, which keeps opening the view fast. */
export function WhenSeen({ draw }: { draw: () => ComponentChild }) {
  const place = useRef<HTMLDivElement>(null)
  const isSeen = useSignal(false)
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) isSeen.value = true
    })
    if (place.current !== null) observer.observe(place.current)
    return () => observer.disconnect()
  }, [])
  return (
    <div ref={place} class="when-seen">
      {isSeen.value && draw()}
    </div>
  )
}
