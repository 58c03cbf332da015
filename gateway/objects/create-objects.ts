import { copyObject } from './copy.ts'
import { listObjects } from './list.ts'
import type { Objects } from './objects.ts'
import { publishObject } from './publish.ts'
import { headObject, readObject } from './read.ts'
import { removeObject } from './remove.ts'
import { removeObjects } from './remove-all.ts'
import type { Stores } from './stores.ts'
import { putObjectTags } from './tags.ts'
import { writeObject } from './write.ts'

/** Objects over a namespace and a metadata store. Keeps nothing itself. */
export function createObjects(stores: Stores): Objects {
  return {
    head: (as, target) => headObject(stores, as, target),
    list: (as, query) => listObjects(stores, as, query),
    read: (as, target, options) => readObject(stores, as, target, options),
    write: (as, target, content, object) => writeObject(stores, as, target, content, object),
    copy: (as, source, target, object) => copyObject(stores, as, source, target, object),
    publish: (as, target, staged, file, object) => publishObject(stores, as, target, staged, file, object),
    remove: (as, target) => removeObject(stores, as, target),
    removeAll: (as, bucket, keys) => removeObjects(stores, as, bucket, keys),
    putTags: (as, target, tags) => putObjectTags(stores, as, target, tags),
  }
}
