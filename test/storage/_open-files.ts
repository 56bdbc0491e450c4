/** The files that this process has open, as Linux tells it. */
import { readdirSync, readlinkSync } from 'node:fs'

/** The path of each, as often as it is open. */
export function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      // The folder itself, which was open while it was read.
      return []
    }
  })
}
