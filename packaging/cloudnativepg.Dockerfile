# Image of the extension alone, which CloudNativePG mounts into a cluster of PostgreSQL 18 or later whose image is of the same release of Debian.
#   docker build -f packaging/cloudnativepg.Dockerfile -t neardup-extension:18-trixie .     --build-arg MAJOR=19, --build-arg DISTRO=bookworm for others
# OpenCC is left out: its tables would have to lie in /usr/share. neardup_to_simplified() and its counterpart raise an error then.
# In the cluster's specification:
#   postgresql:
#     extensions:
#       - name: neardup
#         image: { reference: neardup-extension:18-trixie }
#         ld_library_path: [ system ]
ARG MAJOR=18
ARG DISTRO=trixie

FROM ghcr.io/cloudnative-pg/postgresql:${MAJOR}-minimal-${DISTRO} AS build
ARG MAJOR
USER 0
RUN apt-get update \
 && apt-get install -y --no-install-recommends g++ libre2-dev libuchardet-dev libxxhash-dev make pkg-config \
    "postgresql-server-dev-$MAJOR"
COPY . /src
RUN make -C /src -j"$(nproc)" PG_CONFIG="/usr/lib/postgresql/$MAJOR/bin/pg_config" CUDA=no WITH_CLI=no \
    WITH_OPENCC=no WITH_RE2=yes WITH_UCHARDET=yes install DESTDIR=/image \
 && strip --strip-unneeded "/image/usr/lib/postgresql/$MAJOR/lib/neardup.so"
# As CloudNativePG wants it: lib, share, and in a folder of their own the libraries that the server's image lacks.
RUN mkdir -p /extension/lib /extension/share/extension /extension/system /extension/licenses \
 && cp "/image/usr/lib/postgresql/$MAJOR/lib/neardup.so" /extension/lib/ \
 && cp "/image/usr/share/postgresql/$MAJOR/extension/"neardup* /extension/share/extension/ \
 && cat /src/LICENSE /src/NOTICE >/extension/licenses/neardup \
 && ldd /extension/lib/neardup.so | awk '$3 ~ /^\// { print $3 }' | xargs realpath | xargs dpkg-query -S | cut -d: -f1 | sort -u \
    | while read -r package; do cp "/usr/share/doc/$package/copyright" "/extension/licenses/$package"; done \
 && ldd /extension/lib/neardup.so | awk '$3 ~ /(uchardet|re2|absl)/ { print $3 }' | xargs cp -L -t /extension/system/

FROM scratch
COPY --from=build /extension/ /
USER 65532:65532
