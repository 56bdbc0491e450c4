/** Replaces `src/foundation/program.ts`: the built program of a thread (see _sources.ts). */
import type { Program } from '../../src/foundation/program.ts'

export function programOf(_: string, name: string): Program {
  return { isSource: false, code: new URL(`../../dist/daemon/${name}.js`, import.meta.url) }
}
