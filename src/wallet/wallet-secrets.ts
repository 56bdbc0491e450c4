/** The secrets of an open wallet: sealing with its key, and the keys that its seed derives. */
import { fromUtf8 } from '../foundation/bytes.ts'
import { seal, unseal } from '../foundation/seal.ts'
import { createDerivation, type KeyPath } from '../foundation/crypto/derive.ts'
import type { PrivateJwk } from '../foundation/crypto/keys.ts'

export type WalletSecrets = {
  /** The key at a path below the wallet's seed. Cached, since a derivation takes milliseconds. */
  deriveKey(path: KeyPath): PrivateJwk
  /** Seals a text with the wallet's key. `context` names the row that it belongs to. */
  seal(context: string, text: string): string
  /** @throws when the text was sealed for another row or another wallet, or was changed. */
  unseal(context: string, sealed: string): string
  /** As `unseal`, parsed by `read`. Cached by context. @throws as `unseal`, and what `read` throws. */
  unsealCached<T extends object>(context: string, sealed: string, read: (text: string) => T): T
  /** Fills key and seed with zeros and clears the caches. Every other method throws afterwards. */
  readonly erase: () => void
}

const maxCachedKeys = 200
const maxCachedTexts = 100

/** `key` (32 bytes) and `seed` (64 bytes) belong to the returned value, which erases them. */
export function createWalletSecrets(id: string, key: Uint8Array, seed: Uint8Array): WalletSecrets {
  const derivation = createDerivation(seed)
  const derivedKeys = new Map<string, PrivateJwk>()
  const unsealedTexts = new Map<string, { sealed: string; content: object }>()
  let isErased = false

  /** Without this check, the zeros of an erased key would be used as a key. */
  function assertOpen(): void {
    if (isErased) throw new Error(`the wallet ${id} is closed`)
  }

  function unsealText(context: string, sealed: string): string {
    assertOpen()
    const bytes = unseal(key, context, sealed)
    try {
      return fromUtf8(bytes)
    } finally {
      bytes.fill(0)
    }
  }

  return {
    deriveKey(path) {
      assertOpen()
      const name = `${path.curve ?? ''}/${path.didIndex}/${path.usage}/${path.keyIndex}`
      return cached(derivedKeys, name, maxCachedKeys, () => derivation.key(path))
    },
    seal(context, text) {
      assertOpen()
      return seal(key, context, text)
    },
    unseal: unsealText,
    unsealCached(context, sealed, read) {
      assertOpen()
      // The row may have been updated since.
      if (unsealedTexts.get(context)?.sealed !== sealed) unsealedTexts.delete(context)
      const make = () => ({ sealed, content: read(unsealText(context, sealed)) })
      return cached(unsealedTexts, context, maxCachedTexts, make).content as ReturnType<typeof read>
    },
    erase() {
      isErased = true
      for (const secret of [key, seed]) secret.fill(0)
      derivation.forget()
      // JavaScript strings cannot be overwritten, only released.
      derivedKeys.clear()
      unsealedTexts.clear()
    },
  }
}

/** The cached value of a name, made if there is none. The oldest entry is dropped above `max`. */
function cached<T extends {}>(cache: Map<string, T>, name: string, max: number, make: () => T): T {
  const known = cache.get(name)
  if (known !== undefined) return known
  const made = make()
  if (cache.size >= max) cache.delete(cache.keys().next().value!)
  cache.set(name, made)
  return made
}
