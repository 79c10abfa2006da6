"""The expected clusters, by simulation over near pairs."""


def anchors(ids, near):
    """Greedy first-come: {id: its representative's id}."""
    rank = {i: n for n, i in enumerate(ids)}
    neighbours = {i: [] for i in ids}
    for a, b in near:
        neighbours[a].append(b)
        neighbours[b].append(a)
    rep = {}
    for i in ids:
        kept = [j for j in neighbours[i] if rep.get(j) == j]
        rep[i] = min(kept, key=rank.get) if kept else i
    return rep


def components(ids, near):
    """Union-find; the first id in order represents."""
    parent = {i: i for i in ids}
    rank = {i: n for n, i in enumerate(ids)}

    def root(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i
    for a, b in near:
        a, b = sorted((root(a), root(b)), key=rank.get)
        parent[b] = a
    return {i: root(i) for i in ids}
