import { defineCommand } from '../../cli/define-command.ts'
import { CommandError, UsageError } from '../../cli/errors/errors.ts'
import { exitCodeOf } from '../../cli/errors/report.ts'
import { safeJson } from '../../cli/format/text.ts'
import { argument } from '../../cli/input/arguments.ts'
import { readInput } from '../../cli/input/files.ts'
import { ProblemError } from '../../daemon/client/client.ts'
import { methodNames, namesOf } from '../../src/definitions/did-names.ts'

export default defineCommand({
  summary: 'Resolve any DID and print its document',
  description: `Supports ${namesOf(methodNames, 'and')}. With --json, prints the complete resolution result. Exits with 3 if the DID does not exist or is deactivated.`,
  examples: ['agent did resolve did:web:example.com', 'agent did resolve did:prism:… --json'],
  args: {
    did: argument('a DID, or - for standard input'),
  },
  async run({ args, call, log }) {
    const did = args.did === '-' ? readInput('-').trim() : args.did
    if (did === '') throw new UsageError('There is no DID on standard input.')
    const result = await call('GET /dids/{didRef}', { path: { didRef: did } }).catch(explainFailure)
    log(safeJson(result.didDocument))
    return result
  },
})

/**
 * Reports a failed resolution. The daemon answers with a DID resolution result instead of a problem (W3C DID
 * Resolution).
 */
function explainFailure(error: unknown): never {
  if (!(error instanceof ProblemError) || !('didResolutionMetadata' in error.problem)) throw error
  const metadata = error.problem.didResolutionMetadata as { error?: string; message?: string }
  throw new CommandError(
    `The DID is not resolved (${metadata.error}). ${metadata.message ?? ''}`.trim(),
    exitCodeOf(error.problem),
  )
}
