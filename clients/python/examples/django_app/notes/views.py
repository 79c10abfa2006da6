"""POST /notes stores a note, or answers 409 with the notes that it is a copy of. GET /notes?like=.. finds similar ones."""

import json

from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.db.models import TextField, Value
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from neardup.django import Jaccard, ToMinhash

from .models import Note

THRESHOLD = 0.8


def similar(body, **conditions):
    similarity = Jaccard(ToMinhash("body"), ToMinhash(Value(body, output_field=TextField())))
    found = Note.objects.filter(**conditions).annotate(similarity=similarity).filter(similarity__gte=THRESHOLD)
    return list(found.order_by("-similarity", "id").values("id", "similarity")[:10])


@csrf_exempt
def notes(request: HttpRequest) -> JsonResponse:
    if request.method == "GET":
        return JsonResponse(similar(request.GET.get("like", "")), safe=False)
    try:
        fields = json.loads(request.body)
        note = Note(author=int(fields["author"]), body=str(fields["body"]))
        note.clean_fields()
    except (KeyError, TypeError, ValueError, ValidationError) as error:
        return JsonResponse({"error": str(error)}, status=400)
    try:
        note.save()
    except IntegrityError:  # the constraint decides, also between concurrent requests
        return JsonResponse({"copies": similar(note.body, author=note.author)}, status=409)
    return JsonResponse({"id": note.pk}, status=201)
