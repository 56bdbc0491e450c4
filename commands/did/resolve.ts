/** `agent did resolve` */
import * as Args from '@oclif/core/args'
import { ProblemError } from '../../daemon/client/client.ts'
import { AgentCommand } from '../../cli/base-command.ts'
import { exitCodeOf } from '../../cli/errors/report.ts'
import { CommandError, UsageError } from '../../cli/errors/errors.ts'
import { safeJson } from '../../cli/format/safe.ts'
import { readInput } from '../../cli/input/files.ts'

export default class DidResolve extends AgentCommand {
  static override summary = 'Resolve any DID and print its document'
  static override description =
    'did:prism, did:peer, did:key, did:jwk and did:web. With --json the whole resolution result is printed. Exits with 3 when there is no such DID or it is deactivated.'
  static override examples = [
    '<%= config.bin %> did resolve did:web:example.com',
    '<%= config.bin %> did resolve did:prism:… --json',
  ]
  static override args = {
    did: Args.string({ required: true, ignoreStdin: true, description: 'a DID, or - for standard input' }),
  }

  async run() {
    const { args } = await this.parse(DidResolve)
    const did = args.did === '-' ? readInput('-').trim() : args.did
    if (did === '') throw new UsageError('There is no DID on standard input.')
    const result = await this.call('GET /dids/{didRef}', { path: { didRef: did } }).catch(explainFailure)
    this.log(safeJson(result.didDocument))
    return result
  }
}

/** A DID that is not resolved is answered with a resolution result, which is no problem of the agent's (DID Resolution §4). */
function explainFailure(error: unknown): never {
  if (!(error instanceof ProblemError) || !('didResolutionMetadata' in error.problem)) throw error
  const metadata = error.problem.didResolutionMetadata as { error?: string; message?: string }
  throw new CommandError(
    `The DID is not resolved (${metadata.error}). ${metadata.message ?? ''}`.trim(),
    exitCodeOf(error.problem),
  )
}
