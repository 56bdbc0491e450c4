/** What the bundle of the command line has beside the commands: oclif's entry points, and what package.json names to oclif. */
import type { Hook } from '@oclif/core'

export { handle } from '@oclif/core/handle'
export { run } from '@oclif/core/run'
export { default as Help } from './_help.ts'

/** Says which command may have been meant; loaded only then. */
export const notFound: Hook<'command_not_found'> = async function ({ config, id, argv }) {
  const { reportNotFound } = await import('./_errors/not-found.ts')
  reportNotFound(config, id, argv ?? [])
  this.exit(2)
}
