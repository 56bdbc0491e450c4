/** The state of a DID as a ledger node tells it, in two answers that have to be of one version. */
import { fromHex } from '../base/bytes.ts'
import { decodeDidData, type DidData } from '../did/prism/did-data.ts'
import { toShortForm } from '../did/prism/did.ts'
import { InvalidOperation } from '../did/prism/model.ts'
import type { DidState } from '../did/prism/state.ts'
import { SeenResolution } from './neoprism.ts'
import type { Node } from './node.ts'

type Metadata = SeenResolution['didDocumentMetadata'] & { versionId: string }

/** How often a DID may change while it is read. */
const patience = 5

const notFound = 'https://www.w3.org/ns/did#NOT_FOUND'

/**
 * Reads the metadata (which has the hash and the times), then the keys and services, then the metadata again until nothing has
 * changed in between: a version never comes back.
 */
export async function readState(node: Node, suffix: string): Promise<DidState | undefined> {
  let before = await readMetadata(node, suffix)
  for (let left = patience; before && left > 0; left--) {
    const data = await readData(node, suffix)
    const after = await readMetadata(node, suffix)
    if (data && after?.versionId === before.versionId) return toState(node, data, after)
    before = after
  }
  if (before) throw node.fault('the DID changed each time it was read')
  return undefined
}

/** The metadata of a published DID; nothing when it is not published. */
export async function readMetadata(node: Node, suffix: string): Promise<Metadata | undefined> {
  const did = toShortForm(suffix)
  const answer = await node.get(`/api/dids/${did}`, [200, 404, 410], 'application/did-resolution')
  const {
    didDocument,
    didDocumentMetadata: metadata,
    didResolutionMetadata,
  } = node.parse(SeenResolution, answer)
  if (answer.status === 404) {
    // The 404 of some other server says nothing about the DID.
    if (didResolutionMetadata.error?.type !== notFound)
      throw node.fault('it answered with something that is not the NeoPRISM API')
    return undefined
  }
  const ids = [didDocument?.id, metadata.canonicalId].filter((id) => id !== undefined)
  if (ids.some((id) => id !== did)) throw node.fault('it answered about another DID')
  const { versionId } = metadata
  if (versionId === undefined)
    throw node.fault('it does not tell the version of a DID, as old releases of NeoPRISM do')
  return { ...metadata, versionId }
}

async function readData(node: Node, suffix: string): Promise<DidData | undefined> {
  const { status, text } = await node.get(
    `/api/dids/${toShortForm(suffix)}/protobuf`,
    [200, 404],
    'text/plain',
  )
  if (status === 404) return undefined
  const data = decode(node, text.trim())
  if (data.suffix !== suffix) throw node.fault('it answered about another DID')
  return data
}

function decode(node: Node, hex: string): DidData {
  try {
    return decodeDidData(fromHex(hex))
  } catch (error) {
    if (error instanceof InvalidOperation || error instanceof TypeError)
      throw node.fault('it answered with no valid state of a DID', error)
    throw error
  }
}

function toState(
  node: Node,
  data: DidData,
  { versionId, deactivated = false, created, updated }: Metadata,
): DidState {
  const hasMasterKey = data.publicKeys.some(({ usage }) => usage === 'master')
  if (deactivated ? data.publicKeys.length > 0 : !hasMasterKey)
    throw node.fault('it answered with no valid state of a DID')
  return {
    ...data,
    lastOperationHash: versionId,
    deactivated,
    ...(created !== undefined && { createdAt: new Date(created).toISOString() }),
    ...(updated !== undefined && { updatedAt: new Date(updated).toISOString() }),
  }
}
