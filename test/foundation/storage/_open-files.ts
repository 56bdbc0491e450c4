/** The open files of this process (Linux only). */
import { readdirSync, readlinkSync } from 'node:fs'

/** The paths, once for each descriptor. */
export function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      // The descriptor of the folder itself is closed by now.
      return []
    }
  })
}
