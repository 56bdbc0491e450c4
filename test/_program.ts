/** In the place of `src/base/program.ts`: what the build made of a thread's program (see vitest.config.ts). */
import type { Program } from '../src/base/program.ts'

export function programOf(_: string, name: string): Program {
  return { isSource: false, code: new URL(`../dist/daemon/${name}.js`, import.meta.url) }
}
