/** Resolves DIDs by the daemon of the selected profile, which knows a ledger. */
import { ProblemError } from '../../daemon/client/client.ts'
import { connectDaemon } from './api.ts'
import { findAccess, fromProcess } from './settings.ts'

/** A failure is a result with the reason as `didResolutionMetadata.message`, also if no daemon answers. */
export async function resolveByDaemon(did: string) {
  const { call, close } = connectDaemon(() => findAccess({}, fromProcess()))
  try {
    const { didDocument, didDocumentMetadata } = await call('GET /dids/{didRef}', { path: { didRef: did } })
    return { didDocument, didDocumentMetadata, didResolutionMetadata: {} }
  } catch (error) {
    const message = `the daemon was asked for the ledger: ${reasonOf(error as Error)}`
    return { didDocumentMetadata: {}, didResolutionMetadata: { error: 'notFound' as const, message } }
  } finally {
    close()
  }
}

/** The daemon answers with a DID resolution result instead of a problem. */
function reasonOf(error: Error): string {
  if (!(error instanceof ProblemError) || !('didResolutionMetadata' in error.problem)) return error.message
  const { message } = error.problem.didResolutionMetadata as { message?: string }
  return message ?? error.message
}
